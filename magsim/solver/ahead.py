"""Asking the processor for memory before it is needed."""

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

if TYPE_CHECKING:

    def prefetch(array: Any, at: int) -> None:
        """Ask for the cache line of element ``at`` of a contiguous array; no more than a wish."""
else:

    @intrinsic
    def prefetch(typing_context, array, at):  # noqa: ARG001 - numba passes them
        """Ask for the cache line of element ``at`` of a contiguous array; no more than a wish."""

        def emit(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte, number = ir.PointerType(ir.IntType(8)), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            wish = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            line = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
            builder.call(wish, [line, number(0), number(3), number(1)])  # to read, near, data
            return context.get_dummy_value()

        return types.void(array, types.int64), emit

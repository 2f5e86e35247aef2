"""Numbers of eight classes at once, in registers that hold as many.

A loop over so few is unrolled before the compiler could see that its steps are alike, so these few
operations are spelled out as those of vectors. The numbers are floats, in which whole numbers of
less than 2**53 are exact.
"""
# ruff: noqa: ARG001 - what numba passes

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, register_model

LANES = 8
"""How many classes are worked on at once."""

if TYPE_CHECKING:

    class Lanes:
        """A number for each lane."""

    def load(rows: Any, row: int) -> Lanes:
        """A row of a contiguous array of int32 or float64; shape (rows, 8)."""

    def store(lanes: Lanes, rows: Any, row: int) -> None:
        """Put numbers into such a row; they must be whole where its numbers are."""

    def same(number: float) -> Lanes:
        """One number in all lanes."""

    def total(one: Lanes, other: Lanes) -> Lanes:
        """The sums."""

    def greater(one: Lanes, other: Lanes) -> Lanes:
        """The greater ones."""

    def lesser(one: Lanes, other: Lanes) -> Lanes:
        """The lesser ones."""

    def chosen(one: Lanes, other: Lanes, yes: Lanes, no: Lanes) -> Lanes:
        """``yes`` where ``one`` is at least ``other``, else ``no``."""

    def any_reaches(one: Lanes, other: Lanes) -> bool:
        """Whether in any lane ``one`` is at least ``other``."""

    def product(one: Lanes, other: Lanes) -> Lanes:
        """The products."""

    def quotient(one: Lanes, other: Lanes) -> Lanes:
        """The quotients."""

    def floor(lanes: Lanes) -> Lanes:
        """Rounded down."""
else:
    _VECTOR = ir.VectorType(ir.DoubleType(), LANES)

    class Lanes(types.Type):
        """What numba knows of lanes."""

    _LANES = Lanes("lanes")

    @register_model(Lanes)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, _VECTOR)

    def _place(context, builder, kind, rows, row):
        """Where a row begins, and its type and that of a number in it."""
        number = context.get_data_type(kind.dtype)
        vector = ir.VectorType(number, LANES)
        data = context.make_array(kind)(context, builder, rows).data
        first = builder.gep(data, [builder.mul(row, row.type(LANES))])
        return builder.bitcast(first, ir.PointerType(vector)), vector, number

    @intrinsic
    def load(typing_context, rows, row):
        """A row of a contiguous array of int32 or float64; shape (rows, 8)."""

        def emit(context, builder, signature, arguments):
            place, vector, number = _place(context, builder, signature.args[0], *arguments)
            found = builder.load(place, align=context.get_abi_sizeof(number))
            return found if vector == _VECTOR else builder.sitofp(found, _VECTOR)

        return _LANES(rows, types.int64), emit

    @intrinsic
    def store(typing_context, lanes, rows, row):
        """Put numbers into such a row; they must be whole where its numbers are."""

        def emit(context, builder, signature, arguments):
            found, *array = arguments
            place, vector, number = _place(context, builder, signature.args[1], *array)
            if vector != _VECTOR:
                found = builder.fptosi(found, vector)
            builder.store(found, place, align=context.get_abi_sizeof(number))
            return context.get_dummy_value()

        return types.void(_LANES, rows, types.int64), emit

    @intrinsic
    def same(typing_context, number):
        """One number in all lanes."""

        def emit(context, builder, signature, arguments):
            found = ir.Constant(_VECTOR, ir.Undefined)
            for lane in range(LANES):
                found = builder.insert_element(found, arguments[0], ir.IntType(32)(lane))
            return found

        return _LANES(types.float64), emit

    def _of_two(emitted):
        """What is done to the vectors of two lanes, as numba takes it."""

        @intrinsic
        def operation(typing_context, one, other):
            def emit(context, builder, signature, arguments):
                return emitted(builder, *arguments)

            return _LANES(_LANES, _LANES), emit

        return operation

    def _greater(builder, one, other):
        return builder.select(builder.fcmp_ordered(">", one, other), one, other)

    def _lesser(builder, one, other):
        return builder.select(builder.fcmp_ordered("<", one, other), one, other)

    total = _of_two(ir.IRBuilder.fadd)
    product = _of_two(ir.IRBuilder.fmul)
    quotient = _of_two(ir.IRBuilder.fdiv)
    greater = _of_two(_greater)
    lesser = _of_two(_lesser)

    @intrinsic
    def chosen(typing_context, one, other, yes, no):
        """``yes`` where ``one`` is at least ``other``, else ``no``."""

        def emit(context, builder, signature, arguments):
            one, other, yes, no = arguments
            return builder.select(builder.fcmp_ordered(">=", one, other), yes, no)

        return _LANES(_LANES, _LANES, _LANES, _LANES), emit

    @intrinsic
    def any_reaches(typing_context, one, other):
        """Whether in any lane ``one`` is at least ``other``."""

        def emit(context, builder, signature, arguments):
            bits = ir.IntType(LANES)
            found = builder.bitcast(builder.fcmp_ordered(">=", *arguments), bits)
            return builder.icmp_unsigned("!=", found, bits(0))

        return types.boolean(_LANES, _LANES), emit

    @intrinsic
    def floor(typing_context, lanes):
        """Rounded down."""

        def emit(context, builder, signature, arguments):
            kind = ir.FunctionType(_VECTOR, [_VECTOR])
            down = get_or_insert_function(builder.module, kind, f"llvm.floor.v{LANES}f64")
            return builder.call(down, arguments)

        return _LANES(_LANES), emit

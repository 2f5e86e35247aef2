#!/usr/bin/env perl
# A bot for magsim that is no Python: it stages dice where the numbers on the board are highest, as
# few as it must. Run it as --bots "cmd:bots/engine.pl"; what it speaks is told in programs.md.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # an answer that waits in a buffer is an answer too late
my $json = JSON::PP->new->canonical;
my $rules;

sub neighbours {
    my ($cell) = @_;
    my ($row, $column) = (int($cell / 4), $cell % 4);
    return grep { $_ >= 0 } (
        $row > 0    ? $cell - 4 : -1,
        $row < 3    ? $cell + 4 : -1,
        $column > 0 ? $cell - 1 : -1,
        $column < 3 ? $cell + 1 : -1,
    );
}

sub fits {    # R8 to R11
    my ($board, $die, $cell) = @_;
    return 0 unless $board->[$cell] eq '.';
    return 1 unless grep { /[1-6]/ } @$board;
    my @numbers = grep { /[1-6]/ } map { $board->[$_] } neighbours($cell);
    return @numbers && !grep { abs($_ - $die) > $rules->{max_difference} } @numbers;
}

sub stage {    # the first way to place so many of the dice, none if there is no way
    my ($board, $dice, $count) = @_;
    return [] if $count == 0;
    for my $k (0 .. $#$dice) {
        for my $cell (grep { fits($board, $dice->[$k], $_) } 0 .. 15) {
            my @after = @$board;
            $after[$cell] = $dice->[$k];
            my @rest = @$dice[grep { $_ != $k } 0 .. $#$dice];
            my $found = stage(\@after, \@rest, $count - 1);
            return ["$dice->[$k]" . name($cell), @$found] if $found;
        }
    }
    return undef;
}

sub name { my ($cell) = @_; return substr('abcd', $cell % 4, 1) . (1 + int($cell / 4)) }

while (my $line = <STDIN>) {
    my $asked = $json->decode($line);
    if ($asked->{rules}) {
        $rules = $asked->{rules};
        print $json->encode({ magsim => 1 }), "\n";
        next;
    }
    my @board = grep { $_ ne '/' } split //, $asked->{board};
    my @empty = grep { $board[$_] eq '.' } 0 .. 15;
    my @dice  = sort { $b <=> $a } split //, $asked->{dice};
    my $least = @empty < $rules->{minimum} ? scalar @empty : $rules->{minimum};    # R5
    my $found = stage(\@board, \@dice, $least);
    my $decision =
        $found              ? join(' ', @$found)
      : $asked->{powers}    ? "reroll $asked->{dice}"
      :                       'ruin ' . name($empty[0]);
    print $json->encode({ id => $asked->{id}, decision => $decision }), "\n";
}

/** Blocks that are written out: block designs with small parameters. */

import { refuse } from "./errors.js";
import { partitionPoint } from "./exact.js";

const MAX_BLOCKS = 2 ** 24;
/** The most members that all blocks may have together. */
const MAX_MEMBERS = 2 ** 26;

/** Blocks as ascending lists of symbols. Every symbol is in equally many of them, in at least one and not in all. */
export class Listed {
  constructor(symbols, lists) {
    const members = lists.reduce((count, list) => count + list.length, 0);
    // With fewer members than symbols some symbol is in no block; nothing is reserved for such a list.
    if (members < symbols || members > MAX_MEMBERS || lists.length < 2 || lists.length > MAX_BLOCKS) refuse("channel", "no blocks, or too much of them");
    for (const list of lists) if (list.some((x, at) => x >= symbols || (at > 0 && list[at - 1] >= x))) refuse("channel", "members are symbols, ascending, each once");
    /** For every symbol the blocks it is in, ascending. */
    this.ofSymbol = Array.from({ length: symbols }, () => []);
    lists.forEach((list, block) => list.forEach((x) => this.ofSymbol[x].push(block)));
    this.lists = lists;
    this.blocks = lists.length;
    this.replication = this.ofSymbol[0].length;
    if (this.ofSymbol.some((own) => own.length !== this.replication)) refuse("channel", "every symbol must be in equally many blocks");
    const parts = lists.some((list) => list.length > 0 && list.length < symbols);
    if (this.replication === 0 || this.replication === this.blocks || !parts) refuse("channel", "a block tells nothing");
    /** About how many additions it takes to sum over all blocks. */
    this.sumSteps = members;
    Object.freeze(this);
  }

  contains(block, symbol) {
    const own = this.ofSymbol[symbol];
    return own[partitionPoint(own, (other) => other < block)] === block;
  }

  /** The block with the given number among those that contain the symbol, or that do not, in the order of the list. */
  nth(symbol, inside, number) {
    const own = this.ofSymbol[symbol];
    if (inside) return own[number];
    // The own block with index i has own[i] - i others before it.
    let [low, high] = [0, own.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (own[middle] - middle <= number) low = middle + 1;
      else high = middle;
    }
    return number + low;
  }

  blockSums(weights) {
    return Float64Array.from(this.lists, (list) => list.reduce((sum, x) => sum + weights[x], 0));
  }
}

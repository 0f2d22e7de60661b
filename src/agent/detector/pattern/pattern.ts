/**
 * Regular expressions of Go, which configurations of node-problem-detector contain. They have their own matcher: a translation to
 * JavaScript would differ in details, and JavaScript's matcher can take exponential time.
 */
import { optional } from '../../../kube/objects/optional.ts';
import { maxNewlinesToEnd } from './newlines.ts';
import { parsePattern } from './parse.ts';
import { compileProgram } from './program.ts';
import { type SearchResult, searchText } from './search.ts';

export interface GoPattern {
  readonly text: string;
  /** Line breaks between the start of a match and the end of the text; may be Infinity. */
  readonly maxNewlines: number;
  /** Finds the first match that begins at `from` or later. */
  search(text: string, from?: number): SearchResult;
}

/**
 * 2 million visits of an instruction take about 50 ms. A kernel line of 200 characters needs about a thousand, and
 * a buffer of ten lines of 1,000 characters with the largest shipped pattern 100,000.
 */
const MAX_STEPS = 2_000_000;

/** Throws PatternError when Go would refuse it, or when it is too large. */
export function compilePattern(text: string, maxSteps = MAX_STEPS): GoPattern {
  const tree = parsePattern(text);
  const program = compileProgram(tree, text);
  return {
    text,
    maxNewlines: maxNewlinesToEnd(tree.root),
    search: (searched, from) => searchText(program, searched, { maxSteps, ...optional('from', from) }),
  };
}

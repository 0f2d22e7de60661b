/** Describes what a pattern means, after its text was parsed. */
import type { CharSet } from './char-set.ts';

export type PatternNode =
  | { readonly type: 'Empty' }
  /** Matches one character of the set. */
  | { readonly type: 'Chars'; readonly set: CharSet }
  | { readonly type: 'Assert'; readonly assertion: Assertion }
  | { readonly type: 'Group'; readonly index: number; readonly body: PatternNode }
  | { readonly type: 'Concat'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'Alternate'; readonly choices: readonly PatternNode[] }
  | RepeatNode;

export interface RepeatNode {
  readonly type: 'Repeat';
  readonly body: PatternNode;
  readonly min: number;
  /** The maximum number of repetitions; infinity without a limit. */
  readonly max: number;
  readonly greedy: boolean;
}

export type Assertion = 'BeginText' | 'EndText' | 'BeginLine' | 'EndLine' | 'WordBoundary' | 'NoWordBoundary';

export interface PatternTree {
  readonly root: PatternNode;
  /** The number of capture groups, without the whole match. */
  readonly groups: number;
}

export function subpatternsOf(node: PatternNode): readonly PatternNode[] {
  if ('body' in node) return [node.body];
  if ('parts' in node) return node.parts;
  return 'choices' in node ? node.choices : [];
}

/** The error for a pattern that Go does not accept, or that this matcher does not. The message has the part of the pattern. */
export class PatternError extends Error {
  constructor(problem: string, part: string) {
    super(`${problem}: \`${part}\``);
    this.name = 'PatternError';
  }
}

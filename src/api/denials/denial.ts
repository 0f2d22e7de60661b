/** Defines the words about a reason of a denial: for people who meet it, and for the page that explains it. */

export interface DenialText {
  /** The meaning, in Markdown: `npm run generate` writes it into docs/runbooks/denials.md. */
  readonly meaning: string;
  /** Tells what ends the denial: a command, a commit, or time. `MACHINE` is replaced by the name of the machine. */
  readonly hint: string;
  /** No part of this version gives the reason. */
  readonly later?: true;
}

/** A section of the page. */
export interface DenialGroup {
  readonly title: string;
  /** The reasons in order of precedence. */
  readonly reasons: Readonly<Record<string, DenialText>>;
}

export const WAIT_FOR_ACT = 'no action required once that act has settled: kubenode why machine MACHINE';
export const WAIT_FOR_TIME = 'no action required: it is asked for again when that time is over';

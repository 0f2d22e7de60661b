/** Counts what rules in mode Shadow would have done: each case counts once as allowed and once as denied. */

export interface ShadowCounts {
  readonly wouldAct: number;
  readonly wouldDeny: number;
}

export interface ShadowTally {
  /** Counts an answer. Returns false when this answer about this case was counted before. */
  count(rule: ShadowRule, caseId: string, answer: 'Act' | 'Deny'): boolean;
  /** Returns the counts together with what earlier processes counted. */
  counts(rule: ShadowRule, recorded: ShadowCounts | undefined): ShadowCounts;
}

/** Identifies the version of a rule. The counts of another digest start again. */
export interface ShadowRule {
  readonly name: string;
  readonly digest: string;
}

interface Tally {
  readonly digest: string;
  readonly counted: Set<string>;
  /** The counts that were recorded when this process began to count. */
  base: ShadowCounts | undefined;
  wouldAct: number;
  wouldDeny: number;
}

/** Cases beyond so many are forgotten, and could be counted again. */
const MAX_COUNTED = 10_000;
const NONE: ShadowCounts = { wouldAct: 0, wouldDeny: 0 };

export function createShadowTally(): ShadowTally {
  const tallies = new Map<string, Tally>();
  return {
    count: (rule, caseId, answer) => {
      const tally = tallyOf(rule);
      const key = `${caseId} ${answer}`;
      if (tally.counted.has(key)) return false;
      if (tally.counted.size >= MAX_COUNTED) tally.counted.clear();
      tally.counted.add(key);
      if (answer === 'Act') tally.wouldAct += 1;
      else tally.wouldDeny += 1;
      return true;
    },
    counts: (rule, recorded) => {
      const tally = tallyOf(rule);
      const base = (tally.base ??= recorded ?? NONE);
      return { wouldAct: base.wouldAct + tally.wouldAct, wouldDeny: base.wouldDeny + tally.wouldDeny };
    },
  };

  function tallyOf({ name, digest }: ShadowRule): Tally {
    const known = tallies.get(name);
    if (known?.digest === digest) return known;
    const base = known ? NONE : undefined;
    const created: Tally = { digest, counted: new Set(), base, wouldAct: 0, wouldDeny: 0 };
    tallies.set(name, created);
    return created;
  }
}

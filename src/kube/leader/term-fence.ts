/** A fence for clients that exist before the term begins which permits their writes. */
import type { LeaseElection } from './election.ts';
import type { HeldTerm } from './renewal.ts';

export interface FencedElection {
  /** The same election, which remembers its term. */
  readonly election: LeaseElection;
  /** Throws unless the term that was begun last is held. */
  readonly fence: () => void;
}

export function createFencedElection(election: LeaseElection): FencedElection {
  let term: HeldTerm | undefined;
  return {
    election: {
      campaign: async (signal) => {
        term = await election.campaign(signal);
        return term;
      },
      holder: () => election.holder(),
    },
    fence: () => {
      if (!term) throw new Error('no lease is held yet');
      term.fence();
    },
  };
}

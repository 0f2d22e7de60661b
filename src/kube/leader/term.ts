/** One term of holding a Lease: whether we may still act is a sum of two numbers, asked without waiting. */
import type { Clock } from '../../os/clock.ts';

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  readonly code = 'LeaseLost';
  readonly because: TermEnd;

  constructor(lease: string, because: TermEnd) {
    super(`lease ${lease} is not ours any more: ${WORDS[because]}`);
    this.because = because;
  }
}

export type TermEnd = 'expired' | 'taken' | 'deleted' | 'released';

const WORDS: Readonly<Record<TermEnd, string>> = {
  expired: 'it was not renewed in time',
  taken: 'another process holds it',
  deleted: 'the object was deleted',
  released: 'we gave it back',
};

export interface Term {
  /** `leaseTransitions` of this term. Larger in each later term of any process: for compare-and-swap. */
  readonly epoch: number;
  /** May we act at this very moment? Also right after the process stood still for an hour. */
  held(): boolean;
  /** Throws LeaseLost unless held. To be called right before each request that writes. */
  fence(): void;
  /** How long it stays held if it is never renewed again. */
  leftMs(): number;
  /** Aborted, with a LeaseLost, when the term is over. Never comes back. */
  readonly lost: AbortSignal;
}

/** What keeps a term going. */
export interface TermState extends Term {
  /** The server accepted a renewal that was sent at that moment. */
  renewed(sentAt: Moment): void;
  end(because: TermEnd): void;
}

export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function readMoment(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now().getTime() };
}

export interface TermOptions {
  readonly lease: string;
  readonly epoch: number;
  readonly clock: Clock;
  /** From the sending of a renewal on. Shorter than the Lease itself: what is left is for requests under way. */
  readonly validMs: number;
  readonly sentAt: Moment;
}

export function createTerm({ lease, epoch, clock, validMs, sentAt }: TermOptions): TermState {
  const over = new AbortController();
  let last = sentAt;

  return {
    epoch,
    lost: over.signal,
    held: () => !over.signal.aborted && leftMs() > 0,
    leftMs: () => (over.signal.aborted ? 0 : Math.max(0, leftMs())),
    fence: () => {
      over.signal.throwIfAborted();
      // Late, but perhaps not lost: the answer to a renewal may be waiting to be read.
      if (leftMs() <= 0) throw new LeaseLost(lease, 'expired');
    },
    renewed: (sent) => {
      last = sent;
    },
    end: (because) => {
      if (!over.signal.aborted) over.abort(new LeaseLost(lease, because));
    },
  };

  /**
   * Counted from the sending: whoever wants to take over cannot have seen the renewal before it was sent. The
   * monotonic clock stands still while a virtual machine or a laptop sleeps, the wall clock does not: whichever
   * says that more time went by is believed.
   */
  function leftMs(): number {
    const now = readMoment(clock);
    const passedMs = Math.max(now.monotonicMs - last.monotonicMs, now.wallMs - last.wallMs);
    return validMs - passedMs;
  }
}

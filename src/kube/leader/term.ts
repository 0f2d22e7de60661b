/** One term as holder of a Lease. Whether it is still valid is computed from the clock, without a request. */
import type { Clock } from '../../os/clock.ts';

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  readonly code = 'LeaseLost';
  readonly because: TermEnd;

  constructor(lease: string, because: TermEnd) {
    super(`lease ${lease} is no longer held: ${MESSAGES[because]}`);
    this.because = because;
  }
}

export type TermEnd = 'expired' | 'taken' | 'deleted' | 'released' | 'superseded';

const MESSAGES: Readonly<Record<TermEnd, string>> = {
  expired: 'it was not renewed in time',
  taken: 'another process holds it',
  deleted: 'the object was deleted',
  released: 'it was released',
  superseded: 'what it protects was written with a higher epoch',
};

export interface Term {
  /** `leaseTransitions` of this term. Higher in each later term of any process: for compare-and-swap. */
  readonly epoch: number;
  /** Whether we may act at this moment. Correct even right after the process was suspended. */
  held(): boolean;
  /** Throws LeaseLost unless held. Call it immediately before each write request. */
  fence(): void;
  /** How long it stays valid without another renewal. */
  leftMs(): number;
  /** Aborted with a LeaseLost when the term ends. An ended term never becomes valid again. */
  readonly lost: AbortSignal;
}

/** A term, for the code that renews it. */
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
  /** Counted from when a renewal is sent. Shorter than the Lease itself, to leave time for requests in flight. */
  readonly validMs: number;
  readonly sentAt: Moment;
}

export function createTerm({ lease, epoch, clock, validMs, sentAt }: TermOptions): TermState {
  const ended = new AbortController();
  let last = sentAt;

  return {
    epoch,
    lost: ended.signal,
    held: () => !ended.signal.aborted && leftMs() > 0,
    leftMs: () => (ended.signal.aborted ? 0 : Math.max(0, leftMs())),
    fence: () => {
      ended.signal.throwIfAborted();
      // Late, but perhaps not lost: the answer to a renewal may not be read yet.
      if (leftMs() <= 0) throw new LeaseLost(lease, 'expired');
    },
    // Answers may arrive in another order.
    renewed: (sent) => {
      if (sent.monotonicMs > last.monotonicMs) last = sent;
    },
    end: (because) => {
      if (!ended.signal.aborted) ended.abort(new LeaseLost(lease, because));
    },
  };

  /**
   * Counted from when the renewal was sent, because no other candidate can have observed it earlier. The monotonic
   * clock stops while a virtual machine or a laptop is suspended and the wall clock does not: the clock that shows
   * more elapsed time is used.
   */
  function leftMs(): number {
    const now = readMoment(clock);
    const elapsedMs = Math.max(now.monotonicMs - last.monotonicMs, now.wallMs - last.wallMs);
    return validMs - elapsedMs;
  }
}

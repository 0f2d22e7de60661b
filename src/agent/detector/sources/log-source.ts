/** Defines a source of the lines of a log. */
import type { LogLine } from '../match/log-buffer.ts';

export interface LogBatch {
  readonly lines: readonly LogLine[];
  /** The position at which to continue after these lines. */
  readonly position: string;
}

export interface FollowOptions {
  /** The position at which a follower before this one ended. */
  readonly position?: string;
  /** Earlier lines do not count. Moves when the clock is set back. */
  readonly since: () => Date;
  /** The log can be read. Called before the first lines; later calls change nothing. */
  readonly opened: () => void;
  /** The next lines are read when it resolved. */
  readonly deliver: (batch: LogBatch) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface LogSource {
  /** Ends with the signal. Throws when the log cannot be read. */
  follow(options: FollowOptions): Promise<void>;
}

/** Defines a script on a host, and what a run of it needs. */
import type { Clock } from '../../../os/clock.ts';

export interface HostScript {
  /** The purpose of the script, as it completes "… failed". */
  readonly name: string;
  /** POSIX shell. A constant of this program. */
  readonly text: string;
}

/** How a script becomes root: not at all, by sudo without a password, or by sudo with one. */
export type Elevation =
  | { readonly type: 'None' }
  | { readonly type: 'Sudo' }
  | { readonly type: 'SudoPassword'; readonly password: string };

export interface ScriptRun {
  readonly script: HostScript;
  /** One line of stdin each. */
  readonly values: readonly string[];
  /** The bytes that follow the values on stdin. */
  readonly input?: AsyncIterable<Uint8Array>;
  readonly elevation: Elevation;
  /** The limit of the whole run, or, while the host takes input, of the time without progress. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

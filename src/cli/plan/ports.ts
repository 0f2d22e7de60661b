/** Declares what a plan on clusters needs of its process: that of the command, or that of sync. */
import type { Io } from '../io.ts';

export interface PlanPorts extends Pick<Io, 'clock' | 'signal' | 'err'> {
  /** Receives what a reader of the plan should know besides its changes. */
  readonly warn: (warnings: readonly string[]) => void;
  /** Tells readers why something could not be read. A message may quote a server and name its address, which not all of them may see. */
  readonly explain: (error: unknown) => string;
}

/** What a step of the tour is, and what it works with. */

import type { DemoProgram } from '../../cli/local/demo-programs.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ProcessIdentity } from '../../os/process/identity.ts';
import type { DemoRepository } from './repository.ts';
import type { Expectation } from './verify.ts';

export interface TourStep {
  readonly name: string;
  readonly title: string;
  readonly explanation: readonly [string, string];
  /** Acts, verifies and shows. It leaves the fleet healthy and at the head of the repository. */
  run(tour: Tour): Promise<void>;
}

export interface Tour {
  readonly repository: DemoRepository;
  readonly now: () => Date;
  /** By the name of the context: hub, test, pre, prod. */
  client(context: string): Promise<Client>;
  /** A line about what is done. */
  say(text: string): void;
  /** Prints a command of kubenode and its output. Rejects when it ends with none of these codes. */
  show(args: readonly string[], exitCodes?: readonly number[]): Promise<string>;
  verify(expectation: Expectation): Promise<void>;
  /** The sandbox of a machine. */
  hostFolder(cluster: string, machineUid: string): string;
  /** The agent of that machine, and all that it started. */
  machineProcesses(cluster: string, machineUid: string): Promise<readonly ProcessIdentity[]>;
  /** All processes of that machine stand still, as after a loss of power, until it is resumed. */
  suspend(cluster: string, machineUid: string): Promise<void>;
  /** Also when it was not suspended. */
  resume(cluster: string, machineUid: string): Promise<void>;
  /** Sync and the controllers. */
  programs(): Promise<readonly DemoProgram[]>;
  /** As `kill -9`. */
  kill(identity: ProcessIdentity): Promise<void>;
}

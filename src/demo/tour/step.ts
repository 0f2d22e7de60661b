/** Describes a step of the tour, and what it works with. */

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
  /** Connects to the cluster by the name of its context, hub, test, pre or prod, or by that of a hosted cluster. */
  client(context: string): Promise<Client>;
  /** Returns the options by which a command of kubenode connects to that cluster. */
  selects(context: string): string;
  /** Prints a line about what is done. */
  say(text: string): void;
  /** Prints a command of kubenode and its output. Rejects when it ends with none of these codes. */
  show(args: readonly string[], exitCodes?: readonly number[]): Promise<string>;
  verify(expectation: Expectation): Promise<void>;
  /** Returns the sandbox folder of a machine. */
  hostFolder(cluster: string, machineUid: string): string;
  /** Lists the agent of that machine and all processes that it started. */
  machineProcesses(cluster: string, machineUid: string): Promise<readonly ProcessIdentity[]>;
  /** Stops all processes of that machine, as a loss of power would, until it is resumed. */
  suspend(cluster: string, machineUid: string): Promise<void>;
  /** Resumes the processes of that machine. Does nothing if it was not suspended. */
  resume(cluster: string, machineUid: string): Promise<void>;
  /** Suspends the API server of that cluster: a client gets no answer until it is resumed. Rejects when it is not running. */
  suspendServer(context: string): Promise<void>;
  resumeServer(context: string): Promise<void>;
  /** Lists the processes and folders of a hosted cluster that are left on this machine. */
  hostedLeftovers(cluster: string): Promise<readonly string[]>;
  /** Lists the programs of the demo: sync, hosting and the controllers. */
  programs(): Promise<readonly DemoProgram[]>;
  /** Kills a process as `kill -9` does. */
  kill(identity: ProcessIdentity): Promise<void>;
}

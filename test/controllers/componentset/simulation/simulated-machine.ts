/** A machine with an agent that does what it is asked to, with a behavior for each version. */
import type {
  Machine,
  MachineComponentEntry,
  MachineComponentReport,
} from '../../../../src/api/generated/types.ts';
import { entryDigest } from '../../../../src/api/machine/entry-content.ts';
import { entriesDigest, hasGrants } from '../../../../src/api/machine/entry-report.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { machine, node } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';

/** Good commits. Fails is rolled back by the agent. Hangs never ends. Late: the Node is not Ready 60 s after the commit. */
export type Behavior = 'Good' | 'Fails' | 'Hangs' | 'Late';

const SECOND = 1000;

export class SimulatedMachine {
  readonly name: string;
  labels: Record<string, string> = {};
  entries: readonly MachineComponentEntry[] = [];
  hold: string | undefined;
  isSilent = false;
  /** A person changed a file of what is installed. */
  hasDrifted = false;
  nodeReady = true;
  generation = 1;
  heardAt: Date;
  /** How often each version was activated. */
  readonly activations = new Map<string, number>();
  #observed = 1;
  #entriesDigest: string | undefined;
  #installed: MachineComponentEntry | undefined;
  #report: MachineComponentReport | undefined;
  #startedAt: number | undefined;
  #committedAt: number | undefined;
  #readyChangedAt: Date;
  readonly #denied = new Set<string>();
  #retryToken: string | undefined;
  readonly #seconds: { readonly activate: number; readonly prove: number };

  constructor(name: string, now: Date, seconds = { activate: 20, prove: 30 }) {
    this.name = name;
    this.heardAt = now;
    this.#readyChangedAt = now;
    this.#seconds = seconds;
  }

  /** Runs that entry already. */
  install(entry: MachineComponentEntry): void {
    this.entries = [entry];
    this.#installed = entry;
    this.#report = reportOf(entry, 'Committed', entry);
  }

  apply(components: readonly MachineComponentEntry[]): void {
    this.entries = components;
    this.generation += 1;
  }

  setReady(ready: boolean, now: Date): void {
    if (ready !== this.nodeReady) this.#readyChangedAt = now;
    this.nodeReady = ready;
  }

  /** What the agent reports; undefined: nothing yet. */
  get state(): string {
    return `${this.#report?.state ?? 'None'} ${this.#installed?.componentRef ?? '-'}`;
  }

  get runs(): string {
    return this.#installed?.componentRef ?? '-';
  }

  tick(now: Date, behaviorOf: (componentRef: string, machine: string) => Behavior): void {
    this.#breakLate(now, behaviorOf);
    if (this.isSilent) return;
    this.heardAt = now;
    this.#observe();
    const [entry] = this.entries;
    if (entry) this.#work(entry, now, behaviorOf(entry.componentRef, this.name));
  }

  /** A generation that only took grants away is reported with a later report. */
  #observe(): void {
    const digest = entriesDigest({ components: this.entries });
    if (digest === this.#entriesDigest && !hasGrants({ components: this.entries })) return;
    this.#entriesDigest = digest;
    this.#observed = this.generation;
  }

  #work(entry: MachineComponentEntry, now: Date, behavior: Behavior): void {
    const id = entryDigest(entry);
    const token = entry.assignment?.retryToken;
    if (token !== this.#retryToken) this.#denied.clear();
    this.#retryToken = token;
    if (this.#isInForce(id)) {
      this.#startedAt = undefined;
      this.#report = reportOf(entry, 'Committed', entry, this.#sinceCommit());
      return;
    }
    if (this.#denied.has(id)) {
      this.#report = reportOf(entry, 'RolledBack', this.#installed, {
        error: { message: 'probe app fails' },
      });
      return;
    }
    if (this.#startedAt === undefined && !this.#mayActivate(entry, id, now)) {
      const waiting = {
        reason: 'GrantNeeded',
        since: now.toISOString(),
        message: 'staged: waits for a grant',
      };
      this.#report = reportOf(entry, 'WaitingForGrant', this.#installed, { waiting });
      return;
    }
    this.#advance(entry, id, { now, behavior });
  }

  #isInForce(id: string): boolean {
    return this.#installed !== undefined && entryDigest(this.#installed) === id && !this.hasDrifted;
  }

  #mayActivate({ grant }: MachineComponentEntry, id: string, now: Date): boolean {
    return this.hold === undefined && grant?.entryDigest === id && Date.parse(grant.notAfter) > +now;
  }

  #advance(
    entry: MachineComponentEntry,
    id: string,
    { now, behavior }: { now: Date; behavior: Behavior },
  ): void {
    const { activate, prove } = this.#seconds;
    if (this.#startedAt === undefined) {
      this.#startedAt = +now;
      this.activations.set(entry.componentRef, (this.activations.get(entry.componentRef) ?? 0) + 1);
    }
    const elapsed = (+now - this.#startedAt) / SECOND;
    if (elapsed < activate) {
      this.#report = reportOf(entry, 'Activating', this.#installed);
    } else if (elapsed < activate + prove || behavior === 'Hangs') {
      this.#report = reportOf(entry, 'Probation', this.#installed);
    } else if (behavior === 'Fails') {
      this.#denied.add(id);
      this.#startedAt = undefined;
      this.#report = reportOf(entry, 'RolledBack', this.#installed, {
        error: { message: 'probe app fails' },
      });
    } else {
      this.#installed = entry;
      this.hasDrifted = false;
      this.#committedAt = +now;
      this.#startedAt = undefined;
      this.#report = reportOf(entry, 'Committed', entry, this.#sinceCommit());
    }
  }

  #sinceCommit(): Pick<MachineComponentReport, 'since'> {
    return this.#committedAt === undefined ? {} : { since: new Date(this.#committedAt).toISOString() };
  }

  #breakLate(now: Date, behaviorOf: (componentRef: string, machine: string) => Behavior): void {
    const ref = this.#installed?.componentRef;
    if (ref === undefined || this.#committedAt === undefined) return;
    const isLate = behaviorOf(ref, this.name) === 'Late';
    if (isLate && +now - this.#committedAt >= 60 * SECOND) this.setReady(false, now);
    if (!isLate) this.setReady(true, now);
  }

  machine(): Machine {
    const annotations = this.hold === undefined ? {} : { 'kubenode.dev/hold': `; ${this.hold}` };
    return machine(this.name, {
      metadata: {
        generation: this.generation,
        resourceVersion: String(this.generation),
        labels: this.labels,
        annotations,
        managedFields: [ownEntries(...this.entries.map(({ name }) => name))],
      },
      spec: { components: this.entries },
      status: {
        agent: {
          observedGeneration: this.#observed,
          ...(this.#entriesDigest === undefined ? {} : { entriesDigest: this.#entriesDigest }),
        },
        components: this.#report ? [this.#report] : [],
        node: { uid: `node-${this.name}` },
      },
    });
  }

  node(): KubeObject {
    const its = node(this.name, this.nodeReady ? 'True' : 'False', { uid: `node-${this.name}` });
    const condition = {
      type: 'Ready',
      status: this.nodeReady ? 'True' : 'False',
      lastTransitionTime: this.#readyChangedAt.toISOString(),
    };
    return { ...its, status: { conditions: [condition] } };
  }
}

function reportOf(
  entry: MachineComponentEntry,
  state: NonNullable<MachineComponentReport['state']>,
  installed: MachineComponentEntry | undefined,
  more: Partial<MachineComponentReport> = {},
): MachineComponentReport {
  return {
    name: entry.name,
    desiredRef: entry.componentRef,
    ...(installed ? { currentRef: installed.componentRef, digest: installed.digest } : {}),
    state,
    running: true,
    ready: true,
    ...more,
  };
}

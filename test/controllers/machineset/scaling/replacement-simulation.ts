/** A set whose machines start, serve and are deleted over time, planned again and again: the journal of a replacement. */
import type { Machine, MachineSet } from '../../../../src/api/generated/types.ts';
import type { MachineSetAction, MachineSetPlan } from '../../../../src/controllers/machineset/actions.ts';
import { planMachineSet } from '../../../../src/controllers/machineset/plan.ts';
import { machineSetStatus } from '../../../../src/controllers/machineset/status.ts';
import { machineIntent } from '../../../../src/controllers/machineset/template.ts';
import { condition, machine, NOW, node } from '../../../support/builders.ts';

interface Host {
  machine: Machine;
  /** Undefined: it never becomes Ready. */
  readonly readyMs: number | undefined;
  deletedMs?: number;
}

export interface SimulatedTimes {
  /** Until a new machine is Ready, in seconds. Undefined: it never is. */
  readonly startSeconds: (name: string, image: string) => number | undefined;
  /** Until a deleted machine does not exist any more, in seconds. */
  readonly leaveSeconds: (name: string) => number;
}

const STEP_MS = 10_000;
const TIMES: SimulatedTimes = { startSeconds: () => 60, leaveSeconds: () => 30 };

export class ReplacementSimulation {
  readonly journal: string[] = [];
  set: MachineSet;
  private readonly hosts = new Map<string, Host>();
  private readonly labels = new Map<string, string>();
  private readonly times: SimulatedTimes;
  private nowMs = NOW.getTime();
  private shown = '';

  constructor(set: MachineSet, times: Partial<SimulatedTimes> = {}) {
    this.set = set;
    this.times = { ...TIMES, ...times };
  }

  run(seconds: number, check: (simulation: ReplacementSimulation) => void = () => {}): void {
    const endMs = this.nowMs + seconds * 1000;
    while (this.nowMs < endMs) {
      this.nowMs += STEP_MS;
      this.reconcile();
      check(this);
    }
  }

  /** A person or a job writes into a machine. */
  edit(label: string, change: (machine: Machine) => Machine): void {
    for (const [name, host] of this.hosts) {
      if (this.labelOf(name) === label) host.machine = change(host.machine);
    }
    this.note(`edit ${label}`);
  }

  template(image: string): void {
    const infra = { provider: 'local', config: { image } } as const;
    const { spec } = this.set;
    this.set = { ...this.set, spec: { ...spec, template: { ...spec.template, infra } } };
    this.note(`template ${image}`);
  }

  /** Machines that are Ready and stay. */
  available(): number {
    return [...this.hosts.values()].filter((host) => this.isReady(host) && host.deletedMs === undefined)
      .length;
  }

  count(): number {
    return this.hosts.size;
  }

  images(): string {
    return [...this.hosts.values()]
      .map(({ machine: { spec } }) => imageOf(spec))
      .toSorted()
      .join(' ');
  }

  private reconcile(): void {
    for (const [name, { deletedMs }] of this.hosts) {
      if (deletedMs !== undefined && this.nowMs >= deletedMs + this.times.leaveSeconds(name) * 1000) {
        this.hosts.delete(name);
      }
    }
    const plan = planMachineSet({ set: this.set, machines: this.machines(), now: new Date(this.nowMs) });
    for (const action of plan.actions) this.act(action);
    this.report(plan);
  }

  private machines(): { machine: Machine; node: ReturnType<typeof node> }[] {
    return [...this.hosts.values()].map((host) => {
      const isReady = this.isReady(host);
      const lastTransitionTime = new Date(host.readyMs ?? 0).toISOString();
      const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
      const conditions = ['Ready', 'AgentReady', 'NodeReady'].map((type) =>
        condition(type, isReady ? 'True' : 'False', { lastTransitionTime }),
      );
      const { name } = host.machine.metadata;
      return {
        machine: {
          ...host.machine,
          metadata: {
            ...host.machine.metadata,
            ...(host.deletedMs === undefined
              ? {}
              : { deletionTimestamp: new Date(host.deletedMs).toISOString() }),
          },
          status: { ...host.machine.status, node: { uid: `node-${name}` }, conditions },
        },
        node: { ...node(name), spec: isReady ? {} : { taints } },
      };
    });
  }

  private isReady({ readyMs }: Host): boolean {
    return readyMs !== undefined && readyMs <= this.nowMs;
  }

  private act(action: MachineSetAction): void {
    const { type, name } = action;
    if (type === 'Create') this.create(action.name);
    const host = this.hosts.get(name);
    if (type === 'Delete' && host) host.deletedMs = this.nowMs;
    this.note(`${type} ${this.labelOf(name)} (${host ? imageOf(host.machine.spec) : ''}): ${action.because}`);
  }

  private create(name: string): void {
    const { metadata, spec } = machineIntent(this.set, { name, zone: undefined });
    const created = machine(name, { spec: { ...spec } as Partial<Machine['spec']> });
    const creationTimestamp = new Date(this.nowMs).toISOString();
    const seconds = this.times.startSeconds(name, imageOf(created.spec));
    this.hosts.set(name, {
      machine: { ...created, metadata: { ...created.metadata, ...metadata, creationTimestamp } },
      readyMs: seconds === undefined ? undefined : this.nowMs + seconds * 1000,
    });
  }

  private report(plan: MachineSetPlan): void {
    const status = machineSetStatus({ set: this.set, plan, denials: [], now: new Date(this.nowMs) });
    this.set = { ...this.set, status };
    const { upToDate, stalled } = conditionsOf(status);
    const wait = plan.wait ? `, waits ${plan.wait.reason}` : '';
    const shown = `${this.planned(status)}${wait}, UpToDate ${upToDate}${stalled}`;
    if (shown !== this.shown) this.note(`status: ${shown}`);
    this.shown = shown;
  }

  private planned({ plannedAction }: NonNullable<MachineSet['status']>): string {
    const { type, names = [], because } = plannedAction ?? {};
    const labels = names.map((name) => this.labelOf(name)).join(' ');
    return type === 'Replace' ? `${type} ${labels}: ${because}` : (type ?? '');
  }

  private labelOf(name: string): string {
    const known = this.labels.get(name);
    if (known !== undefined) return known;
    const label = `m${this.labels.size + 1}`;
    this.labels.set(name, label);
    return label;
  }

  private note(text: string): void {
    const seconds = (this.nowMs - NOW.getTime()) / 1000;
    const named = text.replaceAll(/general-[0-9a-f]{8}/g, (name) => this.labelOf(name));
    this.journal.push(`${String(seconds).padStart(5)}s ${named}`);
  }
}

function imageOf({ infra }: Machine['spec']): string {
  const { image } = infra.config as { readonly image?: string };
  return image ?? '';
}

function conditionsOf({
  conditions,
}: NonNullable<MachineSet['status']>): Record<'upToDate' | 'stalled', string> {
  const upToDate = conditions.find(({ type }) => type === 'UpToDate');
  const stalled = conditions.find(({ type }) => type === 'Stalled');
  return {
    upToDate: `${upToDate?.status} ${upToDate?.reason}`,
    stalled: stalled?.status === 'True' ? `, Stalled ${stalled.reason}` : '',
  };
}

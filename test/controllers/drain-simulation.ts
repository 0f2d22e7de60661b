/** One machine that is drained for a new version, with the planners of both controllers and a simulated agent. */

import type {
  LedgerGrant,
  Machine,
  MachineComponentEntry,
  MachineComponentReport,
  MachineComponentSetStatus,
  MachineDrain,
  Rollout,
} from '../../src/api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../src/api/names.ts';
import { type MemberState, memberState } from '../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../src/controllers/componentset/plan.ts';
import {
  entriesWrite,
  grantAsk,
  type WritingAction,
} from '../../src/controllers/componentset/rollout/assignment.ts';
import type {
  RolloutAction,
  RolloutInput,
  RolloutProgress,
} from '../../src/controllers/componentset/rollout/input.ts';
import { planLeft } from '../../src/controllers/componentset/rollout/upkeep/upkeep.ts';
import { componentSetStatus } from '../../src/controllers/componentset/status/status.ts';
import { componentOrder, type DrainDecision, planMachineDrain } from '../../src/controllers/machine/drain.ts';
import type { JsonPatchOperation } from '../../src/kube/controller/writes/declared-fields.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { drainReport } from '../support/agent/drain-report.ts';
import { machine, node } from '../support/builders.ts';
import { ownEntries } from './componentset/managed-fields.ts';
import { COMPLETED, inputOf, member as memberAt, NEW, OLD } from './componentset/rollout/rollout-input.ts';
import { SimulatedLedger } from './componentset/simulation/simulated-ledger.ts';

const TICK_MS = 30_000;
/** As often as the set is reconciled while a machine is in work. */
export const REQUEUE_MS = 5000;
const SET = 'general';

type Outcome = 'Good' | 'Bad' | 'Hangs' | 'NeverDrains';

export interface Run {
  readonly outcome: Outcome;
  readonly isCordonedBefore: boolean;
  readonly onFailure?: Rollout['failure']['onFailure'];
  readonly tickMs?: number;
}

type ReportState = NonNullable<MachineComponentReport['state']>;

const BUDGET_WAIT = {
  reason: 'PodDisruptionBudget',
  blocker: { kind: 'PodDisruptionBudget', name: 'web', namespace: 'shop' },
  since: '2030-01-01T00:00:00.000Z',
  message: '1 pods left',
};

const GRANT_WAIT = { reason: 'GrantNeeded', message: 'no grant', since: '2030-01-01T00:00:00.000Z' };

const FAILED_ELSEWHERE = memberAt('z', { at: NEW, batch: 0, step: 'Failed', reason: 'RolledBack' });

/** Of an activation. */
const ENDS = { Good: 'Committed', Bad: 'RolledBack', Hangs: false, NeverDrains: false } as const;

export class DrainSimulation {
  now = new Date('2030-01-01T00:00:00.000Z');
  isPaused = false;
  isReverted = false;
  /** Another machine of the set failed, and spent the failure budget. */
  hasFailedElsewhere = false;
  isSetDeleted = false;
  isRolloutKilled = false;
  isMachineControllerKilled = false;
  wasDrained = false;
  outcome: Outcome;
  readonly ledger = new SimulatedLedger();
  #progress: RolloutProgress = { updateRevision: OLD.name, history: [COMPLETED] };
  #entries: Machine['spec']['components'] = OLD.components.map((each) => ({
    ...each,
    assignment: { set: SET, revision: OLD.name },
  }));
  #generation = 1;
  #report: MachineComponentReport = reportOf(OLD, 'Committed');
  #drain: MachineDrain | undefined;
  #node: KubeObject;
  #status: MachineComponentSetStatus | undefined;
  readonly #onFailure: Rollout['failure']['onFailure'];
  readonly #tickMs: number;

  constructor({ outcome, isCordonedBefore, onFailure = 'RollbackBatch', tickMs = TICK_MS }: Run) {
    this.#tickMs = tickMs;
    this.outcome = outcome;
    this.#onFailure = onFailure;
    this.#node = { ...node('m'), spec: isCordonedBefore ? { unschedulable: true } : {} };
  }

  tick(): void {
    this.#agent();
    if (!this.isMachineControllerKilled) this.#machineController();
    if (!this.isRolloutKilled) this.#rolloutController();
    this.now = new Date(+this.now + this.#tickMs);
  }

  /** What a person would find. */
  get end(): { cordoned: boolean; ours: boolean; drain: boolean; grants: number } {
    return {
      cordoned: (this.#node['spec'] as { unschedulable?: boolean }).unschedulable === true,
      ours: ANNOTATION_CORDONED_BY in (this.#node.metadata.annotations ?? {}),
      drain: this.#drain !== undefined,
      grants: this.ledger.grants.size,
    };
  }

  get state(): string {
    return `${this.#report.state} ${this.#drain?.state ?? ''}`.trim();
  }

  /** That the status names it. */
  get failed(): boolean {
    return this.#member().step === 'Failed';
  }

  /** Of the status of the set: why the machine failed. */
  get named(): string | undefined {
    const found = this.#status?.failedMachines?.find(({ name }) => name === 'm');
    return found && `${found.code}: ${found.message}`;
  }

  get stalled(): string {
    const found = this.#status?.conditions.find(({ type }) => type === 'Stalled');
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  }

  #machine(): Machine {
    return machine('m', {
      metadata: { generation: this.#generation, managedFields: [ownEntries('app')] },
      spec: { components: this.#entries },
      status: {
        agent: { observedGeneration: this.#generation },
        components: [this.#report],
        ...(this.#drain ? { drain: this.#drain } : {}),
        ...(this.#drain && this.outcome === 'NeverDrains' ? { waiting: BUDGET_WAIT } : {}),
      },
    });
  }

  /** One step each time. Without permission it stays where it is. */
  #agent(): void {
    const [entry] = this.#entries;
    if (!entry) return;
    const { componentRef } = entry;
    if (componentRef === this.#report.currentRef) {
      this.#report = { ...withoutWait(this.#report), ...entryOf(entry), state: 'Committed' };
    } else if (componentRef === this.#report.desiredRef) {
      this.#advance(entry);
    } else {
      this.#report = { ...withoutWait(this.#report), desiredRef: componentRef, state: 'Staged' };
    }
  }

  #advance(entry: MachineComponentEntry): void {
    if (!entry.grant && this.#report.state === 'WaitingForDrain') {
      this.#report = { ...this.#report, state: 'WaitingForGrant', waiting: GRANT_WAIT };
      return;
    }
    const state = this.#nextState(this.#report.state, entry);
    if (state === 'Committed') this.#report = { ...reportOf(NEW, state), ...entryOf(entry) };
    else if (state) this.#report = { ...withoutWait(this.#report), state, ...waitOf(entry, state) };
  }

  #nextState(state: ReportState | undefined, { grant }: MachineComponentEntry): ReportState | false {
    if (state === 'Activating') return ENDS[this.outcome];
    if (!grant || Date.parse(grant.notAfter) <= +this.now) return false;
    if (state === 'Staged' || state === 'WaitingForGrant') return 'WaitingForDrain';
    return state === 'WaitingForDrain' && this.#isDrainedFor(grant.id) && 'Activating';
  }

  #isDrainedFor(grant: string): boolean {
    return this.#drain?.state === 'Drained' && this.#drain.grant === grant;
  }

  #machineController(): void {
    for (let step = 0; step < 3; step += 1) {
      const object = this.#machine();
      const order = componentOrder(object);
      this.#carryOut(planMachineDrain({ machine: object, node: this.#node, order, now: this.now }));
    }
  }

  #carryOut(decision: DrainDecision): void {
    if (decision.type === 'Record') this.#drain = decision.drain;
    if (decision.type === 'End') this.#drain = undefined;
    if ('operations' in decision) this.#patch(decision.operations);
    if (decision.type !== 'Evict' || this.outcome === 'NeverDrains' || !this.#drain) return;
    this.#drain = { ...this.#drain, state: 'Drained' };
    this.wasDrained = true;
  }

  #rolloutController(): void {
    for (let round = 0; round < 5; round += 1) {
      const actions = this.#plan();
      for (const action of actions) this.#perform(action);
      if (actions.length === 0) return;
    }
  }

  #plan(): readonly RolloutAction[] {
    const member = this.#member();
    if (this.isSetDeleted) return planLeft({ left: [member], deleted: [], now: this.now });
    const rollout = {
      maxUnavailable: 1,
      gate: { soakSeconds: 0, checks: [], approval: 'None' },
      failure: { maxFailed: 0, per: 'Rollout', onFailure: this.#onFailure },
    } as const;
    const members = this.hasFailedElsewhere ? [member, FAILED_ELSEWHERE] : [member];
    const input: RolloutInput = inputOf({
      rollout,
      paused: this.isPaused,
      ...(this.isReverted ? { desired: { revision: OLD, yanked: [] } } : {}),
      members,
      progress: this.#progress,
      classOf: () => 'Drain',
      now: this.now,
    });
    const plan = planRollout(input);
    const set = { ...input.set, ...(this.#status ? { status: this.#status } : {}) };
    this.#status = componentSetStatus({
      input: { ...input, set },
      plan,
      denials: [],
      conflicts: [],
      runs: [],
    });
    return plan.actions.filter((action) => !('member' in action) || action.member.name === member.name);
  }

  #member(): MemberState {
    const { batch } = this.#progress;
    const grant = this.ledger.grants.get('m');
    return memberState(
      { machine: this.#machine(), node: this.#node, heardAt: this.now, ...(grant ? { grant } : {}) },
      {
        set: SET,
        components: new Set(['app']),
        timeoutSeconds: 900,
        now: this.now,
        ...(batch
          ? { openBatch: { revision: NEW.name, index: batch.index, startedAt: batch.startedAt } }
          : {}),
      },
    );
  }

  #perform(action: RolloutAction): void {
    if (action.type === 'Persist') {
      this.#progress = action.progress;
    } else if (action.type === 'Settle') {
      this.#apply(action, undefined);
      this.ledger.settle('m', action.outcome);
    } else if (action.type !== 'Release') {
      const { member, permission } = action;
      const revision = action.type === 'Assign' ? action.revision.name : (member.revision ?? '');
      const ask = grantAsk(member, revision, permission, {
        set: SET,
        expectedSeconds: 900,
        factsAt: this.now,
      });
      const grant =
        permission.by === 'Ask' ? this.ledger.ask(ask, this.now) : this.ledger.renew('m', this.now);
      if (typeof grant !== 'string') this.#apply(action, grant);
    }
  }

  #apply(action: WritingAction, grant: Pick<LedgerGrant, 'id' | 'fence' | 'notAfter'> | undefined): void {
    const { components } = entriesWrite({ name: SET }, action, grant);
    this.#entries = components.filter((entry) => 'componentRef' in entry);
    this.#generation += 1;
  }

  #patch(operations: readonly JsonPatchOperation[]): void {
    const copy = structuredClone(this.#node) as unknown as Record<string, unknown>;
    for (const operation of operations) {
      const keys = operation.path.slice(1).split('/').map(unescape);
      const parent = keys
        .slice(0, -1)
        .reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
      const last = keys.at(-1) ?? '';
      if (operation.op === 'remove') Reflect.deleteProperty(parent, last);
      else if ('value' in operation) parent[last] = operation.value;
    }
    this.#node = copy as unknown as KubeObject;
  }
}

function withoutWait({ waiting: _waiting, ...report }: MachineComponentReport): MachineComponentReport {
  return report;
}

/** As the agent reports it. */
function waitOf(entry: MachineComponentEntry, state: ReportState): Pick<MachineComponentReport, 'waiting'> {
  const { waiting } = drainReport(entry);
  return state === 'WaitingForDrain' && waiting ? { waiting } : {};
}

function unescape(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

function reportOf({ components: [component] }: typeof OLD, state: 'Committed'): MachineComponentReport {
  return { name: 'app', state, running: true, ready: true, ...(component ? entryOf(component) : {}) };
}

function entryOf({ componentRef, digest }: { componentRef: string; digest: string }) {
  return { desiredRef: componentRef, currentRef: componentRef, digest };
}

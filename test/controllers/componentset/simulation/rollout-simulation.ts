/**
 * Plays the planner against machines, a ledger and a virtual clock, and writes down what a person would want to read. Limits are
 * checked at each step. A crash may be injected at any write.
 */
import type { MachineComponentSet, SetComponent } from '../../../../src/api/generated/types.ts';
import {
  isAvailable,
  type MemberState,
  memberState,
} from '../../../../src/controllers/componentset/machine/member-state.ts';
import { membershipOf } from '../../../../src/controllers/componentset/members/membership.ts';
import { openBatchOf } from '../../../../src/controllers/componentset/observe/members.ts';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import { type Revision, resolveRevision } from '../../../../src/controllers/componentset/revision/resolve.ts';
import {
  entriesWrite,
  type GivenGrant,
  grantAsk,
  type WritingAction,
} from '../../../../src/controllers/componentset/rollout/assignment.ts';
import type {
  RolloutAction,
  RolloutInput,
  RolloutPlan,
  RolloutProgress,
} from '../../../../src/controllers/componentset/rollout/input.ts';
import type { SkewRule } from '../../../../src/controllers/componentset/servers/skew.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import type { CheckAnswer } from '../../../../src/rollout/checks/gate.ts';
import { askedDigest, type CheckRun } from '../../../../src/rollout/checks/gate.ts';
import { resolveIntOrPercent } from '../../../../src/rollout/int-or-percent.ts';
import { component } from '../../../support/builders.ts';
import { componentSet, type SetParts } from '../component-set.ts';
import { BatchJudge, isSameRollout } from './batch-judge.ts';
import { checkViolation } from './check-judge.ts';
import type { DefendedFleet } from './defended-ledger.ts';
import { SimulatedLedger } from './simulated-ledger.ts';
import { type Behavior, SimulatedMachine } from './simulated-machine.ts';

const SET = 'general';
const START = new Date('2030-01-01T00:00:00.000Z');
const TICK_MS = 10_000;

export interface SimulationParts {
  readonly machines: number;
  readonly rollout?: SetParts['rollout'];
  /** The version that all machines run at the start; undefined: none, and the set is new. */
  readonly installed?: string;
  /** Seconds that each machine takes; default: all the same. */
  readonly secondsOf?: (machine: string) => { readonly activate: number; readonly prove: number };
  /** Default: one that denies what the test sets. */
  readonly createLedger?: (fleet: DefendedFleet) => SimulatedLedger;
  /** Number of the write at which the controller is killed, before or after it. */
  readonly crash?: { readonly at: number; readonly when: 'Before' | 'After' };
}

const IDLE =
  /^\w+: (AllDone|RolledBack|ApprovalRequired|HeldByPartition|FailureBudgetSpent|Paused|GateInconclusive|BatchUnproven) /;

class Killed extends Error {}

export class RolloutSimulation {
  now = START;
  set: MachineComponentSet;
  readonly machines = new Map<string, SimulatedMachine>();
  readonly ledger: SimulatedLedger;
  readonly lines: string[] = [];
  /** What the checks of the set find. */
  checkResult: CheckAnswer['result'] | (() => CheckAnswer['result']) = 'Passed';
  /** Every run of a check, for the judge. */
  readonly allRuns: CheckRun[] = [];
  #runs: readonly CheckRun[] = [];
  behaviorOf: (componentRef: string, machine: string) => Behavior = () => 'Good';
  progress: RolloutProgress = { history: [] };
  /** By what the API servers are now. Undefined: none of the components is a kubelet. */
  createSkewRule: (() => SkewRule) | undefined;
  writes = 0;
  readonly #judge = new BatchJudge();
  #crash: SimulationParts['crash'];
  #limit = '';
  readonly #revisions = new Map<string, Revision>();
  readonly #parts: SimulationParts;

  constructor(parts: SimulationParts) {
    this.#parts = parts;
    this.#crash = parts.crash;
    this.ledger = parts.createLedger?.(this) ?? new SimulatedLedger();
    this.set = componentSet(SET, optional('rollout', parts.rollout));
    const { installed } = parts;
    if (installed !== undefined) this.version(installed);
    for (let index = 1; index <= parts.machines; index += 1) this.join(`m-${index}`);
    if (installed !== undefined) this.#install();
  }

  #install(): void {
    const { name } = this.#desired();
    this.progress = { updateRevision: name, history: [{ revision: name, result: 'Completed' }] };
    for (const each of this.machines.values()) {
      const [entry] = this.#desired().components;
      if (entry) each.install({ ...entry, assignment: { set: SET, revision: name } });
    }
  }

  /** git asks for that version. */
  version(version: string): void {
    const { componentRef } = component('app', version);
    const components: SetComponent[] = [{ name: 'app', componentRef, state: 'Present', parameters: {} }];
    this.set = { ...this.set, spec: { ...this.set.spec, components } };
    this.say(`git: ${componentRef}`);
  }

  edit(spec: Partial<MachineComponentSet['spec']>): void {
    this.set = { ...this.set, spec: { ...this.set.spec, ...spec } };
  }

  join(name: string): SimulatedMachine {
    const joined = new SimulatedMachine(name, this.now, this.#parts.secondsOf?.(name));
    this.machines.set(name, joined);
    return joined;
  }

  machine(name: string): SimulatedMachine {
    const found = this.machines.get(name);
    if (!found) throw new Error(`no machine ${name}`);
    return found;
  }

  say(line: string): void {
    this.lines.push(`${this.now.toISOString().slice(11, 19)} ${line}`);
  }

  run(seconds: number): void {
    const end = +this.now + seconds * 1000;
    while (+this.now < end) {
      this.reconcile();
      this.now = new Date(this.#isIdle() ? end : +this.now + TICK_MS);
      for (const each of this.machines.values()) this.#tick(each);
      this.#expire();
    }
    this.reconcile();
  }

  /** Only an event from outside changes anything: the time until then needs no steps. */
  #isIdle(): boolean {
    const isQuiet = [...this.machines.values()].every((each) => !each.isSilent && !each.hasDrifted);
    return IDLE.test(this.#limit) && this.ledger.grants.size === 0 && isQuiet;
  }

  /** Until nothing is left to do at this moment. */
  reconcile(): void {
    for (let round = 0; round < 20; round += 1) {
      try {
        const plan = planRollout(this.input());
        this.#sayLimit(plan);
        if (!this.#execute(plan)) return;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        this.say('controller killed');
      }
    }
    throw new Error(`no end at ${this.now.toISOString()}`);
  }

  input(): RolloutInput {
    const observed = [...this.machines.values()].map((each) => each.machine());
    const { members, left } = membershipOf(this.set, [this.set], observed);
    const context = {
      set: SET,
      components: new Set(['app']),
      timeoutSeconds: this.set.spec.rollout.machineTimeoutSeconds,
      ...optional('openBatch', openBatchOf(this.progress)),
      ...optional('retryToken', this.set.spec.retryToken),
      now: this.now,
    };
    const stateOf = (machine: (typeof observed)[number]): MemberState => {
      const simulated = this.machine(machine.metadata.name);
      const grant = this.ledger.grants.get(machine.metadata.name);
      const its = { machine, node: simulated.node(), heardAt: simulated.heardAt };
      return memberState(grant ? { ...its, grant } : its, context);
    };
    const stable = this.progress.history.find(({ result }) => result === 'Completed')?.revision;
    const stableRevision = this.#revisions.get(stable ?? '');
    const deleted = [...this.ledger.grants]
      .filter(([name]) => !this.machines.has(name))
      .map(([machine, grant]) => ({ machine, grant }));
    const revision = this.#desired();
    return {
      set: this.set,
      desired: { revision, yanked: [] },
      ...(stableRevision ? { stable: stableRevision } : {}),
      progress: this.progress,
      members: members.map(stateOf),
      left: left.map(stateOf),
      deleted,
      runs: this.#runs,
      classOf: () => 'Restart',
      ...optional('skewOf', this.createSkewRule?.()),
      now: this.now,
    };
  }

  /** Machines that run each version, and the grants that are out. */
  summary(): string {
    const counts = Map.groupBy(this.machines.values(), ({ runs }) => runs);
    const versions = [...counts].map(([runs, { length }]) => `${length} run ${runs}`).toSorted();
    return `${versions.join(', ')}; grants in work: ${this.ledger.grants.size}`;
  }

  #desired(): Revision {
    const resolved = resolveRevision(this.set.spec.components, (ref) => {
      const [, version = ''] = ref.split('-');
      return { spec: { component: 'app', parameters: [] }, digest: component('app', version).digest };
    });
    if (!('revision' in resolved)) throw new Error('not resolved');
    this.#revisions.set(resolved.revision.name, resolved.revision);
    return resolved.revision;
  }

  #tick(each: SimulatedMachine): void {
    const before = `${each.state} ${each.nodeReady}`;
    each.tick(this.now, this.behaviorOf);
    const after = `${each.state} ${each.nodeReady}`;
    if (before !== after && !/Activating|Probation|WaitingForGrant/.test(after)) {
      this.say(`  ${each.name}: ${each.state}${each.nodeReady ? '' : ', Node not Ready'}`);
    }
  }

  /** As the Defender does: a grant past its end, of which no entry knows, is over. */
  #expire(): void {
    for (const [name, { notAfter, holder }] of this.ledger.grants) {
      const isUsed = this.machines.get(name)?.entries.some(({ grant }) => grant !== undefined);
      const isOver = Date.parse(notAfter) < +this.now && holder.kind === 'MachineComponentSet';
      if (isOver && !isUsed) this.ledger.settle(name, 'Ambiguous');
    }
  }

  #sayLimit({ mode, limit }: RolloutPlan): void {
    const line = `${mode}: ${limit.reason} (${this.#plain(limit.because)})`;
    if (line !== this.#limit) this.say(line);
    this.#limit = line;
  }

  /** Revisions by their version. */
  #plain(text: string): string {
    return text.replaceAll(
      /r-[0-9a-f]{8}/g,
      (name) => this.#revisions.get(name)?.components[0]?.componentRef ?? name,
    );
  }

  /** Whether anything was written. */
  #execute({ actions, checks }: RolloutPlan): boolean {
    const isChanged = actions.map((action) => this.#perform(action)).includes(true);
    this.#runs = checks.due.map(({ check }) => {
      const { checkResult } = this;
      const result = typeof checkResult === 'string' ? checkResult : checkResult();
      return { check: check.name, asked: askedDigest(check), at: this.now, result, message: result };
    });
    this.allRuns.push(...this.#runs);
    return isChanged || this.#runs.length > 0;
  }

  #perform(action: RolloutAction): boolean {
    if (action.type === 'Persist') return this.#write(() => this.#persist(action.progress));
    if (action.type === 'Release') {
      return this.#write(() => this.ledger.settle(action.machine, action.outcome));
    }
    if (action.type === 'Settle') {
      this.#apply(action, undefined);
      this.say(`settle ${action.member.name}: ${action.outcome}`);
      return this.#write(() => this.ledger.settle(action.member.name, action.outcome));
    }
    return this.#grantAndApply(action);
  }

  #grantAndApply(action: Extract<WritingAction, { type: 'Assign' | 'Permit' }>): boolean {
    const { member, permission } = action;
    if (action.type === 'Assign' && isAvailable(member)) this.#checkAvailability(member);
    const revision = action.type === 'Assign' ? action.revision.name : (member.revision ?? '');
    const ask = grantAsk(member, revision, permission, { set: SET, expectedSeconds: 900, factsAt: this.now });
    let grant: GivenGrant | string = 'not asked';
    this.#write(() => {
      grant =
        permission.by === 'Ask'
          ? this.ledger.ask(ask, this.now)
          : this.ledger.renew(member.name, this.now, permission.recovery);
    });
    if (typeof grant === 'string') {
      this.#sayDenial(`${member.name}: ${grant}`);
      return false;
    }
    this.#sayBegin(action);
    return this.#apply(action, grant);
  }

  #sayBegin(action: Extract<WritingAction, { type: 'Assign' | 'Permit' }>): void {
    const { member, permission, because } = action;
    if (action.type === 'Assign') {
      const { components } = action.revision;
      this.say(`${member.name} -> ${components[0]?.componentRef} (${this.#plain(because)})`);
    } else if (permission.by === 'Ask') this.say(`${member.name}: restart`);
  }

  readonly #denials = new Set<string>();

  #sayDenial(line: string): void {
    if (!this.#denials.has(line)) this.say(`denied ${line}`);
    this.#denials.add(line);
  }

  #apply(action: WritingAction, grant: GivenGrant | undefined): boolean {
    const { machine, resourceVersion, components } = entriesWrite(
      { name: SET, ...optional('retryToken', this.set.spec.retryToken) },
      action,
      grant,
    );
    const target = this.machine(machine);
    if (resourceVersion !== String(target.generation)) throw new Error(`${machine}: conflict`);
    const known = this.ledger.grants.get(machine)?.id;
    if (grant && known !== grant.id) throw new Error(`${machine}: grant ${grant.id} is not in the ledger`);
    const isWritten = this.#write(() => target.apply(components.filter((entry) => 'componentRef' in entry)));
    if (action.type === 'Assign') {
      this.#checkSize(action.batch);
      if (!action.permission.recovery) this.#checkChoice(target);
    }
    return isWritten;
  }

  #checkGate(after: RolloutProgress): void {
    const { members, left } = this.input();
    const { soakSeconds } = this.set.spec.rollout.gate;
    const judged = { members, left, soakSeconds, now: this.now };
    const { checks } = this.set.spec.rollout.gate;
    const violation =
      this.#judge.judge(this.progress, after, judged) ??
      checkViolation(this.progress, after, { checks, members, runs: this.allRuns });
    if (violation !== undefined) throw new Error(violation);
  }

  #checkChoice(started: SimulatedMachine): void {
    const all = [...this.machines.values()];
    this.#checkSpread(started, all);
    const kept = resolveIntOrPercent(this.set.spec.rollout.partition, all.length);
    const { name } = this.#desired();
    const isAt = ({ entries }: SimulatedMachine): boolean =>
      entries.some(({ assignment }) => assignment?.revision === name);
    const others = all.filter((each) => !isAt(each)).length;
    if (isAt(started) && others < kept) {
      throw new Error(`${started.name}: ${others} keep the old revision, expected ${kept}`);
    }
  }

  #checkSpread(started: SimulatedMachine, all: readonly SimulatedMachine[]): void {
    const { spread } = this.set.spec.rollout;
    if (!spread) return;
    const rackOf = ({ labels }: SimulatedMachine): string | undefined => labels[spread.labelKey];
    const inWork = all.filter(({ entries }) => entries.some(({ grant }) => grant !== undefined));
    const domain = inWork.filter((each) => rackOf(each) === rackOf(started)).length;
    const most = resolveIntOrPercent(spread.max, all.length);
    if (domain > most) throw new Error(`${started.name}: ${domain} of its domain in work, allowed: ${most}`);
  }

  /** A batch never grows. */
  #checkSize(index: number | undefined): void {
    const { batch, updateRevision } = this.progress;
    if (!batch || index !== batch.index) return;
    const own = [...this.machines.values()].filter(({ entries }) =>
      entries.some(
        ({ assignment }) => assignment?.revision === updateRevision && assignment?.batch === index,
      ),
    );
    if (own.length <= batch.size) return;
    throw new Error(`batch ${index} has ${own.length} machines, not ${batch.size}`);
  }

  #persist(progress: RolloutProgress): void {
    const { batch } = progress;
    const isKnown = isSameRollout(this.progress, progress) && batch?.index === this.progress.batch?.index;
    if (batch && !isKnown) this.say(`batch ${batch.index}: ${batch.size} machines`);
    this.#checkGate(progress);
    this.progress = progress;
  }

  #write(write: () => void): true {
    this.writes += 1;
    const isHere = this.#crash?.at === this.writes;
    const when = this.#crash?.when;
    if (isHere) this.#crash = undefined;
    if (isHere && when === 'Before') throw new Killed();
    write();
    if (isHere && when === 'After') throw new Killed();
    return true;
  }

  /** The promise of maxUnavailable, counted without the planner. */
  #checkAvailability(started: MemberState): void {
    const { members, set } = this.input();
    const most = resolveIntOrPercent(set.spec.rollout.maxUnavailable, members.length);
    const unavailable = members.filter((each) => !isAvailable(each) && each.name !== started.name).length;
    if (unavailable < most) return;
    throw new Error(`${started.name}: ${unavailable + 1} unavailable, allowed ${most}`);
  }
}

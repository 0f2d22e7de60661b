/**
 * Runs the loop of the agent: accept the newest state of the Machine, reconcile each component, report, and wait until something changes.
 * The journal and the accepted state are on disk, so that it can end at any line.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PeerAnswer } from '../../api/generated/types.ts';
import { HEARTBEAT_MS } from '../../api/machine/heartbeat.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { AuthoritiesFollower } from '../authorities/follower.ts';
import { authoritiesChange } from '../authorities/kubelet.ts';
import { listKubelets } from '../authorities/processes.ts';
import type { ActivationBrakes } from '../component/input.ts';
import type { ComponentAction } from '../component/operation.ts';
import { pathsOf } from '../component/placements.ts';
import { createProber, type Prober } from '../component/prober.ts';
import { hasStopped } from '../component/transition/plan.ts';
import { type AcceptedState, holdScope } from '../desired/accepted.ts';
import { refuseConflicts } from '../desired/conflicts.ts';
import { resolveEntries } from '../desired/resolve-entries.ts';
import type { CollectedFacts } from '../facts/collector.ts';
import type { Host } from '../host/port.ts';
import type { ReportedJobStep } from '../jobs/answer.ts';
import { JobRunner } from '../jobs/runner.ts';
import { highestFence } from '../journal/jobs.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import type { MachineEvents } from '../status/event-recorder.ts';
import { planMachineEvents } from '../status/machine-events.ts';
import { StatusPublisher } from '../status/publisher.ts';
import type { AgentStatus, ReportedComponent } from '../status/report.ts';
import { createWatchCheck } from '../status/watches.ts';
import { createProver, type ReportProof } from '../upgrade/prover.ts';
import type { AgentSelf, NoSelfUpgrade } from '../upgrade/self.ts';
import { type AcceptanceKeeper, openAcceptance } from './acceptance.ts';
import type { AgentApi } from './api.ts';
import { ComponentsReconciler } from './components.ts';
import { createFailures, type OperationFailures } from './failures.ts';
import { createGrantClock, type GrantClock } from './grant-clock.ts';
import { createHeartbeat, type LeaseWriter } from './heartbeat.ts';
import { removeOldVersions } from './retention.ts';
import { appendRetries } from './retries.ts';
import { needsScan } from './scan.ts';
import type { ReconcileTrigger, TriggerReason } from './trigger.ts';

export interface AgentOptions {
  readonly host: Host;
  readonly api: AgentApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly machine: string;
  readonly version: string;
  readonly clusterServer: string;
  readonly trigger: ReconcileTrigger;
  readonly observer?: AgentObserver;
  readonly events?: Pick<MachineEvents, 'record'>;
  /** The description of this agent as a component of its machine. */
  readonly self?: AgentSelf | NoSelfUpgrade;
  /** Returns when the certificate of the agent ends, where it keeps one. */
  readonly certificateNotAfter?: () => Date | undefined;
  /** Returns what the agent follows of its authorities. Undefined: another program keeps its certificate. */
  readonly authorities?: () => AuthoritiesFollower | undefined;
  /** Returns the facts for rules. */
  readonly facts?: () => CollectedFacts;
  /** Returns what was found of silent machines. */
  readonly peers?: () => readonly PeerAnswer[];
  /** Returns why the agent has no certificate, where it keeps one. */
  readonly joinProblem?: () => string | undefined;
}

/** Observes the loop, for metrics and tests. */
export interface AgentObserver {
  readonly acted: (component: string, action: ComponentAction) => void;
  readonly reconciled: (status: AgentStatus, seconds: number) => void;
}

const ROOT = 'root';
/** The shortest wait between two reconciles: changes in quick succession are handled together. */
const MIN_WAIT_MS = 300;
/** The wait while a version is in probation, which is committed soon after its time. */
const PROBATION_WAIT_MS = 1000;

type Reports = ReadonlyMap<string, ReportedComponent>;

interface HostReport {
  readonly reports: Reports;
  readonly jobs: readonly ReportedJobStep[];
}

const NOTHING: HostReport = { reports: new Map(), jobs: [] };

interface Observed {
  readonly state: AcceptedState;
  readonly scannedMs: number;
  readonly reports: Reports;
}

interface AgentParts {
  readonly journal: Journal;
  readonly acceptance: AcceptanceKeeper;
  readonly publisher: StatusPublisher;
}

export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { host, api, log } = options;
  const journal = await openJournal(host.files);
  if (journal.damagedLines > 0) log.error('journal damaged', { lines: journal.damagedLines });
  const acceptance = await openAcceptance(host.files, api);
  return new Agent(options, { journal, acceptance, publisher: await StatusPublisher.open(options) });
}

export class Agent implements AsyncDisposable {
  readonly #options: AgentOptions;
  readonly #parts: AgentParts;
  readonly #prober: Prober;
  readonly #failures: OperationFailures;
  readonly #components: ComponentsReconciler;
  readonly #jobs: JobRunner;
  readonly #grants: ReturnType<typeof createGrantClock>;
  readonly #heartbeat: LeaseWriter;
  #observed: Observed | undefined;
  readonly #checkWatches: () => string | undefined;
  #hasSettled = true;
  #missing: string | undefined;
  readonly #reportProof: ReportProof | undefined;
  #watched: { readonly paths: readonly string[]; readonly watch?: AsyncDisposable } = { paths: [] };

  constructor(options: AgentOptions, parts: AgentParts) {
    const { host, clock, log, random, api } = options;
    this.#options = options;
    this.#parts = parts;
    this.#prober = createProber({ host, clock, nodeCondition: (type) => api.nodeCondition(type) });
    this.#failures = createFailures(clock);
    this.#grants = createGrantClock(clock);
    this.#checkWatches = createWatchCheck(host.files, log);
    this.#heartbeat = createHeartbeat({ api, clock, log, slackMs: MIN_WAIT_MS });
    const [prober, failures] = [this.#prober, this.#failures];
    const onAction = (component: string, action: ComponentAction): void => this.#acted(component, action);
    const onChange = (): void => options.trigger.notify();
    const self = ownUpgrade(options);
    this.#reportProof = self && createProver({ ...options, journal: parts.journal, self });
    const context = {
      host,
      journal: parts.journal,
      clock,
      log,
      random,
      prober,
      failures,
      onAction,
      onDownloaded: onChange,
      ...optional('self', self),
    };
    this.#components = new ComponentsReconciler(context);
    this.#jobs = new JobRunner({ host, api, clock, log, journal: parts.journal, onChange });
  }

  /** Reconciles until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    for (let reason: TriggerReason = 'Changed'; !signal.aborted; ) {
      const isDone = await this.#tryReconcile(reason);
      const next = await this.#options.trigger.wait({ minMs: MIN_WAIT_MS, maxMs: this.#waitMs() }, signal);
      reason = isDone ? next : 'Changed';
    }
  }

  /** Reconciles, and tells whether it succeeded. A full disk must not end the agent: it continues when there is space again. */
  async #tryReconcile(reason: TriggerReason): Promise<boolean> {
    try {
      await this.reconcile(reason);
      return true;
    } catch (error) {
      this.#options.log.error('reconcile failed', { error });
      return false;
    }
  }

  /** Returns the state of the Machine that is in force. */
  accepted(): AcceptedState | undefined {
    return this.#parts.acceptance.current();
  }

  /** Returns the kubelets that run. Undefined: no component was observed yet, or a kubelet starts or stops. */
  async kubelets(): Promise<readonly string[] | undefined> {
    return this.#observed && (await listKubelets(this.#options.host, this.#observed.reports.values()));
  }

  /** Reconciles the whole machine, or what is due when nothing changed. */
  async reconcile(reason: TriggerReason = 'Changed'): Promise<void> {
    const { clock, log, host, observer } = this.#options;
    const { journal, acceptance, publisher } = this.#parts;
    const beganMs = clock.monotonicMs();
    await acceptance.refresh().catch((error: unknown) => log.warn('desired state not read', { error }));
    const state = acceptance.current();
    const { reports, jobs } = state ? await this.#reconcileHost(state, reason) : NOTHING;
    if (this.#hasSettled) await removeOldVersions(host.files, journal.state());
    this.#hasSettled = false;
    const refused = acceptance.refused();
    const { status, before } = await publisher.publish({
      reports,
      jobs,
      state,
      refused,
      missing: this.#explainMissing(),
      unwatched: this.#checkWatches(),
    });
    if (state) this.#options.events?.record(state, planMachineEvents(before, status));
    await this.#watchFiles(reports);
    await this.#showAlive();
    observer?.reconciled(status, (clock.monotonicMs() - beganMs) / 1000);
  }

  /** Shows that the loop is alive, after a reconcile that finished, never beside it: a loop that hangs must not look alive. */
  async #showAlive(): Promise<void> {
    const state = this.accepted();
    if (state && this.#hasMachine(state)) this.#heartbeat.beat(state);
    await this.#reportProof?.({ hasWrittenLease: this.#heartbeat.hasBeenWritten() });
  }

  /**
   * Tells whether the agent still has its Machine: not when it was deleted, or recreated for another host. Then the agent leaves no Lease
   * in its name.
   */
  #hasMachine({ uid }: AcceptedState): boolean {
    const { api } = this.#options;
    return !api.isOnline() || api.machine()?.metadata.uid === uid;
  }

  /** Reconciles the components, and then the jobs, so that a job begins only when each component is at a safe point. */
  async #reconcileHost(state: AcceptedState, reason: TriggerReason): Promise<HostReport> {
    const reports = await this.#reconcileComponents(state, reason);
    return { reports, jobs: await this.#reconcileJobs(state) };
  }

  /** Returns why nothing is enforced, and logs one line for each reason. */
  #explainMissing(): string | undefined {
    const because = this.#missingReason();
    if (because !== undefined && because !== this.#missing) {
      this.#options.log.info('nothing is enforced yet', { because });
    }
    this.#missing = because;
    return because;
  }

  /** Returns why the state of the Machine is missing. Without one nothing is known of the components, and nothing is done. */
  #missingReason(): string | undefined {
    if (this.accepted()) return undefined;
    const { api, machine, joinProblem } = this.#options;
    const refused = this.#parts.acceptance.refused();
    const problem = joinProblem?.() ?? refused;
    if (problem !== undefined) return problem;
    if (!api.isOnline()) return `waits for the API server, to read Machine ${machine}`;
    return `the cluster has no Machine ${machine}: create it, or correct --machine`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#jobs.stop();
    this.#components.close();
    await this.#watched.watch?.[Symbol.asyncDispose]();
  }

  async #reconcileJobs(state: AcceptedState): Promise<readonly ReportedJobStep[]> {
    try {
      return await this.#jobs.reconcile(state);
    } catch (error) {
      this.#options.log.error('jobs not reconciled', { error });
      return [];
    }
  }

  async #reconcileComponents(state: AcceptedState, reason: TriggerReason): Promise<Reports> {
    // The step that works on the host is not disturbed, and what it does is not taken for drift.
    if (this.#observed && this.#jobs.isDisturbing()) return this.#observed.reports;
    const probed = await this.#probeOnly(state, reason);
    if (probed) return probed;
    const scannedMs = this.#options.clock.monotonicMs();
    const reports = await this.#observeComponents(state);
    this.#observed = { state, scannedMs, reports };
    return reports;
  }

  /** Runs only the probes that are due; returns undefined when the host has to be observed. */
  async #probeOnly(state: AcceptedState, reason: TriggerReason): Promise<Reports | undefined> {
    const { clock, log } = this.#options;
    const observed = this.#observed;
    if (observed?.state !== state || this.#jobs.isActive()) return undefined;
    const sinceScanMs = clock.monotonicMs() - observed.scannedMs;
    if (needsScan({ reason, sinceScanMs, reports: observed.reports })) return undefined;
    try {
      const isAsBefore = await this.#components.probe(observed.reports);
      return isAsBefore ? observed.reports : undefined;
    } catch (error) {
      log.warn('probes not run', { error });
      return undefined;
    }
  }

  async #observeComponents(state: AcceptedState): Promise<Reports> {
    const { host, clusterServer, clock } = this.#options;
    const { journal } = this.#parts;
    await appendRetries(journal, state.spec, clock.now());
    const fence = highestFence(journal.state().jobs);
    const isExpired: GrantClock['isExpired'] = (grant) =>
      // A job got a later grant for this machine, so this one was settled.
      grant.fence < fence || this.#grants.isExpired(grant);
    const noSelfUpgrade = noUpgradeReason(this.#options);
    const context = { host, clusterServer, isExpired, ...optional('noSelfUpgrade', noSelfUpgrade) };
    const desired = await resolveEntries(state, context);
    return await this.#components.reconcile(refuseConflicts(desired), this.#brakesOf(state));
  }

  #brakesOf(state: AcceptedState): ActivationBrakes {
    const { api, clock, authorities } = this.#options;
    const followed = authorities?.()?.followed();
    return {
      hold: holdScope(state, clock.now()),
      online: api.isOnline(),
      jobRunning: this.#jobs.isActive(),
      ...optional('drainedFor', state.drainedFor),
      ...optional('nodeMissingSince', api.nodeMissingSince()),
      ...optional('authorities', followed && authoritiesChange(followed)),
    };
  }

  #acted(component: string, action: ComponentAction): void {
    if (action.type === 'Record' && action.record.type === 'Settled') this.#hasSettled = true;
    const what = action.type === 'Record' ? action.record : { operation: action.operation.op };
    this.#options.log.info('action done', { component, ...what, because: action.because });
    this.#warnOfUser(component, action);
    this.#options.observer?.acted(component, action);
  }

  /** Warns that the user of a unit is not applied: what a host cannot do is never passed over in silence. */
  #warnOfUser(component: string, action: ComponentAction): void {
    const { host, log } = this.#options;
    if (host.capabilities.ownership || action.type !== 'Operate' || action.operation.op !== 'WriteUnit') {
      return;
    }
    const { target, unit } = action.operation;
    const user = target.units.find(({ name }) => name === unit)?.exec?.user ?? ROOT;
    if (user === ROOT) return;
    log.warn('user not applied', { component, unit, user, because: 'a sandbox runs units as its own user' });
  }

  async #watchFiles(reports: Reports): Promise<void> {
    const { host, trigger } = this.#options;
    const paths = [...reports.values()]
      .flatMap(({ current }) => (current ? [...pathsOf(current), current.directory] : []))
      .toSorted();
    if (isDeepStrictEqual(paths, this.#watched.paths)) return;
    await this.#watched.watch?.[Symbol.asyncDispose]();
    this.#watched = { paths, watch: host.files.watch(paths, () => trigger.notify()) };
  }

  /**
   * Returns how long to wait for the next reconcile. What is still due after a reconcile is not for now: it must not be waited for again
   * and again.
   */
  #waitMs(): number {
    const { clock } = this.#options;
    const components = [...this.#parts.journal.state().components.values()];
    const retryAt = this.#failures.nextRetryAt()?.getTime() ?? Number.POSITIVE_INFINITY;
    const times = [
      components.some(({ transition }) => transition && hasStopped(transition))
        ? PROBATION_WAIT_MS
        : HEARTBEAT_MS,
      retryAt - clock.now().getTime(),
      (this.#prober.nextMs() ?? Number.POSITIVE_INFINITY) - clock.monotonicMs(),
      (this.#parts.publisher.nextMs() ?? Number.POSITIVE_INFINITY) - clock.monotonicMs(),
    ];
    // Timers may end a part of a millisecond early, when nothing is due yet.
    return Math.max(MIN_WAIT_MS, Math.ceil(Math.min(HEARTBEAT_MS, ...times.filter((ms) => ms > 0))) + 1);
  }
}

function ownUpgrade({ self }: AgentOptions): AgentSelf | undefined {
  return self && 'program' in self ? self : undefined;
}

function noUpgradeReason({ self }: AgentOptions): string | undefined {
  if (!self) return 'this agent has no program of its own';
  return 'unsupported' in self ? self.unsupported : undefined;
}

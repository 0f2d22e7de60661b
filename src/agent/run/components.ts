/** Reconciles the components of the machine, one after the other, until each waits or has nothing left to do. */

import { optional } from '../../kube/objects/optional.ts';
import type { Log, LogFields } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type {
  ActivationBrakes,
  DesiredComponent,
  OperationFailure,
  OtherComponent,
  ProbationProgress,
} from '../component/input.ts';
import type { ComponentAction } from '../component/operation.ts';
import type { Prober } from '../component/prober.ts';
import {
  type ComponentResult,
  type FailedOperation,
  progressOf,
  reconcileComponent,
} from '../component/reconcile.ts';
import { endsOf } from '../component/transition/builders.ts';
import { otherComponent } from '../component/transition/dependencies.ts';
import { hasStopped } from '../component/transition/plan.ts';
import { keptUnits } from '../component/transition/steps.ts';
import { orderComponents } from '../desired/order.ts';
import type { Host } from '../host/port.ts';
import { createDownloads, type Downloads } from '../install/downloads.ts';
import { createDigestReader, type DigestReader } from '../install/programs.ts';
import { readDownloadSettings } from '../install/settings.ts';
import { changingComponent, reinstallKey } from '../jobs/circumstances.ts';
import { NO_DRIFT } from '../journal/drift.ts';
import type { Journal } from '../journal/journal.ts';
import type { ComponentProgress } from '../journal/progress.ts';
import { AGENT_COMPONENT } from '../layout.ts';
import type { ReportedComponent } from '../status/report.ts';
import { createTargetReader, type TargetReader } from '../target/store.ts';
import type { Target } from '../target/target.ts';
import { observeSelf } from '../upgrade/observe-self.ts';
import type { AgentSelf, SelfObservation } from '../upgrade/self.ts';
import type { OperationFailures } from './failures.ts';

export interface ComponentsContext {
  readonly host: Host;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** Spreads downloads: a number in [0, 1). */
  readonly random: () => number;
  readonly prober: Prober;
  readonly failures: OperationFailures;
  /** Handles the end of a download that ran beside the loop. */
  readonly onDownloaded: () => void;
  readonly onAction: (component: string, action: ComponentAction) => void;
  /** The description of this agent, where it can be replaced. */
  readonly self?: AgentSelf;
}

type Desired = ReadonlyMap<string, DesiredComponent>;

/** The maximum number of rounds: more than any transition has steps. */
const MAX_ROUNDS = 60;
const ORPHANED: DesiredComponent = { state: 'Orphaned' };

export class ComponentsReconciler {
  readonly #context: ComponentsContext;
  readonly #digest: DigestReader;
  readonly #downloads: Downloads;
  readonly #targetReader: TargetReader;
  /** The targets of this reconcile: each component reads those of all others. */
  readonly #targets = new Map<string, Target>();

  constructor(context: ComponentsContext) {
    this.#context = context;
    this.#digest = createDigestReader(context.host.files);
    this.#targetReader = createTargetReader(context.host.files);
    this.#downloads = createDownloads({
      ...context,
      readSettings: () => readDownloadSettings(context.host.files),
      onEnd: context.onDownloaded,
    });
  }

  async reconcile(
    desired: Desired,
    brakes: ActivationBrakes,
  ): Promise<ReadonlyMap<string, ReportedComponent>> {
    this.#targets.clear();
    const known = [...this.#context.journal.state().components];
    const installed = known.filter(([, each]) => each.current ?? each.transition).map(([name]) => name);
    const names = [...new Set([...desired.keys(), ...installed])];
    const dependencies = new Map(names.map((name) => [name, dependenciesOf(desired.get(name))]));
    const reports = new Map<string, ReportedComponent>();
    for (const name of orderComponents(dependencies)) {
      const others = names.filter((each) => each !== name);
      reports.set(name, await this.#tryOne(name, desired.get(name) ?? ORPHANED, { brakes, others }));
    }
    return reports;
  }

  /** Runs the probes that are due, and observes nothing else. Tells whether each component is as ready as it was reported. */
  async probe(reports: ReadonlyMap<string, ReportedComponent>): Promise<boolean> {
    const { prober } = this.#context;
    for (const { current, ready, progress, units } of reports.values()) {
      if (!current || !isInForce(progress) || !prober.isDue(current)) continue;
      await prober.probe(current, COMMITTED, { units });
      if (prober.isReady(current) !== ready) return false;
    }
    return true;
  }

  close(): void {
    this.#downloads.close();
  }

  /** Reconciles one component. One that cannot be observed does not stop the others. */
  async #tryOne(
    name: string,
    desired: DesiredComponent,
    surroundings: Surroundings,
  ): Promise<ReportedComponent> {
    const { log, failures } = this.#context;
    try {
      return await this.#report(desired, await this.#settle(name, desired, surroundings));
    } catch (error) {
      log.error('reconcile failed', { component: name, error });
      const message = messageOf(error);
      failures.add(name, { code: NOT_RECONCILED, message });
      return { ...this.#known(name), desired, findings: [], units: new Map() };
    }
  }

  /** Reconciles a component until it waits or nothing is left to do. */
  async #settle(
    component: string,
    desired: DesiredComponent,
    { brakes, others }: Surroundings,
  ): Promise<ComponentResult> {
    const { failures, log, onAction } = this.#context;
    const context = {
      ...this.#context,
      digest: this.#digest,
      readTarget: this.#targetReader,
      downloads: this.#downloads,
      onAction: (action: ComponentAction) => onAction(component, action),
    };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const failure = operationFailure(failures.get(component));
      const result = await reconcileComponent(context, {
        component,
        desired,
        brakes,
        others: await this.#readOthers(others),
        ...optional('changing', changingComponent(this.#context.journal.state(), component)),
        ...optional('self', await this.#observeSelf(component)),
        downloading: this.#downloads.running(),
        ...optional('reinstall', reinstallKey(this.#context.journal.state().jobs, component)),
        ...optional('failure', failure),
        ...optional('probation', await this.#probe(component, desired)),
      });
      if (!failure) failures.clear(component);
      if (result.failure) log.warn('operation failed', logFields(component, result.failure));
      if (result.failure) failures.add(component, result.failure, result.progress.transition);
      else if (!result.done) failures.clear(component);
      if (result.done) {
        // Its time came, and nothing failed: what failed is no longer tried.
        if (!result.failure) failures.clearPast(component);
        return result;
      }
    }
    throw new Error(`${component} does not settle after ${MAX_ROUNDS} rounds`);
  }

  async #observeSelf(component: string): Promise<SelfObservation | undefined> {
    const { host, self } = this.#context;
    return component === AGENT_COMPONENT && self ? await observeSelf(host, self) : undefined;
  }

  async #probe(component: string, desired: DesiredComponent): Promise<ProbationProgress | undefined> {
    const { transition, since } = progressOf(this.#context.journal, component);
    if (transition?.step !== 'Probation') return undefined;
    const targets = await this.#readTargets([transition.from, transition.to]);
    const known = { desired, targets };
    const { goal } = endsOf(known, transition);
    const kept = keptUnits(known, transition);
    return goal && (await this.#context.prober.probe(goal, since, { kept }));
  }

  async #readTargets(ids: readonly (string | undefined)[]): Promise<ReadonlyMap<string, Target>> {
    const targets = new Map<string, Target>();
    for (const id of new Set(ids)) {
      const target = id === undefined ? undefined : await this.#readTarget(id);
      if (target) targets.set(target.id, target);
    }
    return targets;
  }

  async #readTarget(id: string): Promise<Target | undefined> {
    const target = this.#targets.get(id) ?? (await this.#targetReader(id));
    if (target) this.#targets.set(id, target);
    return target;
  }

  async #readOthers(names: readonly string[]): Promise<ReadonlyMap<string, OtherComponent>> {
    const others = new Map<string, OtherComponent>();
    for (const name of names) {
      const progress = progressOf(this.#context.journal, name);
      const target = (await this.#readTargets([progress.current])).get(progress.current ?? '');
      if (target) others.set(name, otherComponent(progress, target));
    }
    return others;
  }

  /** Reports after the reconcile: what is in force, and whether its probes succeed. */
  async #report(desired: DesiredComponent, result: ComponentResult): Promise<ReportedComponent> {
    const { prober } = this.#context;
    const { progress, observed, findings } = result;
    const [currentId = '', previousId = ''] = [progress.current, progress.history[0]];
    const targets = await this.#readTargets([currentId, previousId]);
    const current = targets.get(currentId);
    if (isInForce(progress)) {
      if (current) await prober.probe(current, COMMITTED, { units: observed.units });
      else prober.forget(progress.component);
    }
    return {
      ...this.#known(progress.component),
      desired,
      findings,
      units: observed.units,
      ...optional('current', current),
      ...optional('previous', targets.get(previousId)),
      ...optional('ready', current && prober.isReady(current)),
      ...optional('wait', result.wait),
    };
  }

  #known(name: string): Pick<ReportedComponent, 'progress' | 'drift' | 'failure'> {
    const { journal, failures } = this.#context;
    return {
      progress: progressOf(journal, name),
      drift: journal.state().drift.get(name) ?? NO_DRIFT,
      ...optional('failure', failures.get(name)),
    };
  }
}

interface Surroundings {
  readonly brakes: ActivationBrakes;
  /** The names of the other components. */
  readonly others: readonly string[];
}

/** The code of a failure in which the agent could not read the host or write its journal. No version is to blame. */
const NOT_RECONCILED = 'ReconcileFailed';

function operationFailure(failure: OperationFailure | undefined): OperationFailure | undefined {
  return failure?.code === NOT_RECONCILED ? undefined : failure;
}

/** Tells whether the current version is in force. From Stopping on the probes are those of the goal. */
function isInForce({ transition }: ComponentProgress): boolean {
  return !transition || !hasStopped(transition);
}

/** The name of the probes of a version in force, as opposed to those of a start. */
const COMMITTED = 'committed';

function logFields(component: string, { operation, code, message }: FailedOperation): LogFields {
  return { component, operation: operation.op, code, detail: message };
}

function dependenciesOf(desired: DesiredComponent | undefined): readonly string[] {
  return desired?.state === 'Present' ? desired.target.dependsOn.map(({ component }) => component) : [];
}

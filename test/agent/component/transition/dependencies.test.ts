import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  ComponentInput,
  DesiredComponent,
  OtherComponent,
} from '../../../../src/agent/component/input.ts';
import {
  otherComponent,
  unmetDependencies,
} from '../../../../src/agent/component/transition/dependencies.ts';
import { hasStopped, planTransition } from '../../../../src/agent/component/transition/plan.ts';
import {
  applyRecord,
  type ComponentProgress,
  EMPTY_JOURNAL,
  type JournalState,
  recordsOf,
} from '../../../../src/agent/journal/progress.ts';
import type { ComponentRecord, Transition } from '../../../../src/agent/journal/record.ts';
import type { Target } from '../../../../src/agent/target/target.ts';
import type { ComponentDependency } from '../../../../src/api/generated/types.ts';
import { absent, present } from '../../../support/agent/component-driver.ts';
import { componentInput, EMPTY_HOST, explain, V1, V2 } from '../../../support/agent/component-input.ts';
import { target } from '../../../support/agent/targets.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const NEEDS_OLD = { ...V1, dependsOn: [{ component: 'runtime', minVersion: '1.0', maxVersion: '1.9' }] };
const MISMATCH =
  'wait DependencyMismatch: proxy-1.0 needs runtime ≥ 1.0 ≤ 1.9, but runtime has version 2.0: revert both in git, or release a version of proxy for runtime 2.0';

function runtime(committedVersion?: string): ReadonlyMap<string, OtherComponent> {
  return new Map([
    ['runtime', { dependsOn: [], ...(committedVersion !== undefined && { committedVersion }) }],
  ]);
}

describe('a version in force that does not fit what it depends on', () => {
  function plan(fields: Partial<ComponentInput>, progress: Partial<ComponentProgress> = {}): string {
    const input = componentInput(
      {
        desired: present(NEEDS_OLD),
        targets: new Map([
          [V1.id, NEEDS_OLD],
          [V2.id, V2],
        ]),
        others: runtime('2.0'),
        ...fields,
      },
      { current: V1.id, state: 'Committed', ...progress },
    );
    return explain(input);
  }

  it.each<[string, string, string]>([
    ['names both components and what to do', plan({}), MISMATCH],
    [
      'after a rollback of the version that fitted',
      plan({ desired: present(V2) }, { state: 'RolledBack', denied: [V2.id] }),
      MISMATCH,
    ],
    ['not when it fits', plan({ others: runtime('1.9') }), 'nothing'],
    ['not while the other one is between two versions', plan({ others: runtime() }), 'nothing'],
    [
      'not when another version is on the way',
      plan({ desired: present(V2) }),
      'record Fetching Forward to 1.1: another version is desired',
    ],
    [
      'not when the entry was removed',
      plan({ desired: { state: 'Orphaned' } }),
      'wait Orphaned: the entry was removed from the Machine: the component is kept',
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toBe(expected);
  });
});

/** Each depends on the one before it. */
const CHAIN = ['a', 'b', 'c'] as const;
type Name = (typeof CHAIN)[number];
const VERSIONS = ['1', '2', '3'];

interface PlanEvent {
  readonly type: 'Plan';
  readonly name: Name;
  readonly healthy: boolean;
  readonly times: number;
}

type Event =
  | { readonly type: 'Declare'; readonly name: Name; readonly version: string | undefined }
  | PlanEvent
  | { readonly type: 'Restart' | 'Reboot' | 'Retry' };

const anyName = fc.constantFrom(...CHAIN);
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant('Declare'), name: anyName, version: anyVersion() }) },
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('Plan'),
      name: anyName,
      healthy: mostly(true),
      times: fc.integer({ min: 3, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('Restart', 'Reboot', 'Retry') }) },
);
/** Of each version of a component: which versions of the one before it in the chain it fits. */
const anyRanges = fc.array(fc.tuple(fc.constantFrom(...VERSIONS), fc.constantFrom(...VERSIONS)), {
  minLength: CHAIN.length * VERSIONS.length,
  maxLength: CHAIN.length * VERSIONS.length,
});

function anyVersion(): fc.Arbitrary<string | undefined> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...VERSIONS) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

function mostly(value: boolean): fc.Arbitrary<boolean> {
  return fc.constantFrom(value, value, value, !value);
}

/** The components of one machine over the real planner and the real journal. Every act on the host succeeds. */
class Chain {
  readonly #catalog: ReadonlyMap<string, Target>;
  readonly #desired = new Map<Name, DesiredComponent>();
  /** Of each component that is between two versions: dependents that did not fit before it began. */
  readonly #misfits = new Map<Name, Set<string>>();
  #journal: JournalState = EMPTY_JOURNAL;
  #boots = 0;
  /** Of components that others depend on. */
  rollbacks = 0;
  readonly broken: string[] = [];

  constructor(ranges: readonly (readonly [string, string])[]) {
    const targets = CHAIN.flatMap((name, place) =>
      VERSIONS.map((version, index) => bareTarget(name, version, ranges[place * VERSIONS.length + index])),
    );
    this.#catalog = new Map(targets.map((each) => [each.id, each]));
  }

  apply(event: Event): void {
    if (event.type === 'Declare') this.#declare(event.name, event.version);
    else if (event.type === 'Plan') this.#planOften(event);
    else if (event.type === 'Retry') this.#journal = applyRecord(this.#journal, retry());
    else if (event.type === 'Restart') this.#journal = reread(this.#journal);
    else this.#boots += 1;
  }

  #declare(name: Name, version: string | undefined): void {
    const found = this.#catalog.get(`${name}-${version}`);
    this.#desired.set(name, found ? present(found) : absent(`absent-${name}`));
  }

  #planOften({ name, healthy, times }: PlanEvent): void {
    for (let count = 0; count < times; count += 1) this.#plan(name, healthy);
  }

  #plan(name: Name, healthy: boolean): void {
    const desired = this.#desired.get(name);
    if (!desired) return;
    const failure = { code: 'UnitFailed', message: 'unit failed' };
    const plan = planTransition({
      ...componentInput({ component: name, desired, targets: this.#catalog, others: this.#others(name) }),
      progress: this.#progress(name),
      observed: { ...EMPTY_HOST, bootId: `boot-${this.#boots}` },
      probation: { elapsedMs: 1e9, pending: [], ...(healthy ? { passingMs: 1e9 } : { failure }) },
    });
    for (const action of plan.actions) if (action.type === 'Record') this.#record(name, action.record);
  }

  #record(name: Name, record: ComponentRecord): void {
    if (record.type === 'Step' && record.step === 'Stopping') this.#begin(name, record);
    this.#journal = applyRecord(this.#journal, record);
    if (record.type === 'Settled' && record.state === 'RolledBack') this.#judge(name);
  }

  #begin(name: Name, { direction }: Transition): void {
    if (direction === 'Forward') {
      this.#misfits.set(name, new Set(this.#unfit(name)));
      return;
    }
    // What a dependent returned to by itself is not the doing of this component: its mismatch is reported.
    const { from } = this.#progress(name).transition ?? {};
    for (const misfits of this.#misfits.values()) if (from !== undefined) misfits.add(from);
  }

  /** The promise: going back breaks no dependent that fitted when the transition began. */
  #judge(name: Name): void {
    this.rollbacks += Math.min(1, this.#dependents(name).length);
    const known = this.#misfits.get(name);
    this.broken.push(...this.#unfit(name).filter((id) => !known?.has(id)));
  }

  #dependents(name: Name): readonly Target[] {
    const installed = CHAIN.flatMap((each) => this.#catalog.get(this.#activated(each) ?? '') ?? []);
    return installed.filter(({ dependsOn }) => dependsOn.some(({ component }) => component === name));
  }

  /** Ids of dependents that do not fit the version in force of this component. */
  #unfit(name: Name): readonly string[] {
    const current = this.#catalog.get(this.#progress(name).current ?? '');
    const others = new Map(current ? [[name, { dependsOn: [], committedVersion: current.version }]] : []);
    const unfit = this.#dependents(name).filter((each) => unmetDependencies(each, others).length > 0);
    return unfit.map(({ id }) => id);
  }

  #activated(name: Name): string | undefined {
    const { current, transition } = this.#progress(name);
    if (!transition || !hasStopped(transition)) return current;
    return transition.direction === 'Forward' ? transition.to : transition.from;
  }

  #others(name: Name): ReadonlyMap<string, OtherComponent> {
    return new Map(
      CHAIN.filter((each) => each !== name).flatMap((each) => {
        const progress = this.#progress(each);
        const current = this.#catalog.get(progress.current ?? '');
        return current ? [[each, otherComponent(progress, current)] as const] : [];
      }),
    );
  }

  #progress(component: Name): ComponentProgress {
    const none = { component, state: 'Absent', denied: [], history: [], since: NOW.toISOString() } as const;
    return this.#journal.components.get(component) ?? none;
  }
}

/** Another agent process, with a journal that was compacted. */
function reread(state: JournalState): JournalState {
  return recordsOf(state).reduce(applyRecord, EMPTY_JOURNAL);
}

function retry(): ComponentRecord {
  return { type: 'Retry', token: 'again', at: NOW.toISOString() };
}

/** Nothing but its version and what it depends on. */
function bareTarget(name: Name, version: string, range: readonly [string, string] | undefined): Target {
  const id = `${name}-${version}`;
  const { artifact: _none, ...fields } = target(version, {
    id,
    ref: id,
    component: name,
    files: [],
    units: [],
  });
  const before = CHAIN[CHAIN.indexOf(name) - 1];
  if (before === undefined || !range) return fields;
  const [minVersion, maxVersion] = range.toSorted() as [string, string];
  const dependsOn: ComponentDependency[] = [{ component: before, minVersion, maxVersion }];
  return { ...fields, dependsOn };
}

describe('AGT-21 a rollback of a component that others depend on', () => {
  it('leaves every dependent as compatible as it was before, whatever happens in between', () => {
    let rollbacks = 0;
    fc.assert(
      fc.property(anyRanges, fc.array(anyEvent, { minLength: 200, maxLength: 300 }), (ranges, events) => {
        const chain = new Chain(ranges);
        for (const event of events) chain.apply(event);
        expect(chain.broken).toEqual([]);
        rollbacks += chain.rollbacks;
      }),
    );
    // The sequences do get there.
    expect(rollbacks).toBeGreaterThan(5);
  });
});

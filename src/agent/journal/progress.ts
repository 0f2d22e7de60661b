/** Derives how far each component is, from the records of the journal in order. Pure. */
import { optional } from '../../kube/objects/optional.ts';
import { applyDrift, type ComponentDrift, NO_DRIFT, recordsOfDrift } from './drift.ts';
import { applyJob, type JobsState, recordsOfJobs } from './jobs.ts';
import type {
  JournalRecord,
  RetryRecord,
  SettledRecord,
  SettledState,
  StepRecord,
  Transition,
  TransitionFailure,
} from './record.ts';

/** The number of denied targets that are kept: as many as Machine.status shows. The oldest is forgotten first. */
const MAX_DENIED = 4;

export interface ComponentProgress {
  readonly component: string;
  readonly state: SettledState;
  /** The id of the target in force before the transition, if there is one. */
  readonly current?: string;
  /** The ids of targets that were in force before, newest first. */
  readonly history: readonly string[];
  readonly transition?: Transition;
  readonly denied: readonly string[];
  /** The failure of the last transition that failed; forgotten at the next Committed. */
  readonly failure?: TransitionFailure;
  /** The time when the current step or state began. */
  readonly since: string;
  /** The key of the step of a repair job that brought it into this state. */
  readonly reinstalled?: string;
  /** The entry that the running units of the host were compared with first. */
  readonly comparedWith?: string;
}

/** The value of `since` where the journal has no record of the component. */
export const NEVER = new Date(0).toISOString();

export interface JournalState {
  readonly components: ReadonlyMap<string, ComponentProgress>;
  readonly drift: ReadonlyMap<string, ComponentDrift>;
  readonly jobs: JobsState;
  readonly retryToken: string;
  /** The retry tokens of the sets, by component. */
  readonly retryTokens: ReadonlyMap<string, string>;
}

export const EMPTY_JOURNAL: JournalState = {
  components: new Map(),
  drift: new Map(),
  jobs: new Map(),
  retryToken: '',
  retryTokens: new Map(),
};

export function applyRecord(state: JournalState, record: JournalRecord): JournalState {
  if (record.type === 'Retry') return applyRetry(state, record);
  if (record.type === 'Correction' || record.type === 'Process') {
    const drift = applyDrift(state.drift.get(record.component) ?? NO_DRIFT, record);
    return { ...state, drift: new Map(state.drift).set(record.component, drift) };
  }
  if (record.type === 'Job') return { ...state, jobs: applyJob(state.jobs, record) };
  const before = state.components.get(record.component);
  const after = record.type === 'Step' ? beginStep(before, record) : settle(before, record);
  return { ...state, components: new Map(state.components).set(record.component, after) };
}

function applyRetry(state: JournalState, { component, token }: RetryRecord): JournalState {
  const components = [...state.components].map(([name, each]) => {
    const isMeant = component === undefined || component === name;
    return [name, isMeant ? { ...each, denied: [] } : each] as const;
  });
  const after = { ...state, components: new Map(components) };
  if (component === undefined) return { ...after, retryToken: token };
  return { ...after, retryTokens: new Map(state.retryTokens).set(component, token) };
}

function beginStep(before: ComponentProgress | undefined, record: StepRecord): ComponentProgress {
  const { type: _type, component, at, ...transition } = record;
  return {
    component,
    state: 'Absent',
    denied: [],
    history: [],
    ...before,
    ...optional('comparedWith', record.comparedWith ?? before?.comparedWith),
    transition,
    since: at,
  };
}

function settle(before: ComponentProgress | undefined, record: SettledRecord): ComponentProgress {
  const { type: _type, at, denied, ...settled } = record;
  const earlier = (before?.denied ?? []).filter((id) => id !== denied);
  return {
    ...settled,
    denied: [...earlier, ...(denied === undefined ? [] : [denied])].slice(-MAX_DENIED),
    since: at,
  };
}

/**
 * Returns the fewest records that give the same state: what compaction keeps. Denied targets of a component are given by one Settled record
 * each, the last of which carries the state.
 */
export function recordsOf(journal: JournalState): readonly JournalRecord[] {
  const { components, drift, jobs } = journal;
  return [
    ...recordsOfRetries(journal),
    ...[...components.values()].flatMap(recordsOfComponent),
    ...[...drift.values()].flatMap(recordsOfDrift),
    ...recordsOfJobs(jobs),
  ];
}

function recordsOfRetries({ retryToken, retryTokens }: JournalState): readonly RetryRecord[] {
  const ofSets = [...retryTokens].map(([component, token]) => ({ component, token }));
  return [{ token: retryToken }, ...ofSets]
    .filter(({ token }) => token !== '')
    .map((each) => ({ type: 'Retry', ...each, at: EPOCH }));
}

const EPOCH = '1970-01-01T00:00:00Z';

function recordsOfComponent(progress: ComponentProgress): readonly JournalRecord[] {
  const {
    component,
    denied,
    transition,
    since: at,
    failure,
    current,
    history,
    state,
    reinstalled,
    comparedWith,
  } = progress;
  const settled: SettledRecord = {
    type: 'Settled',
    component,
    at,
    state,
    ...(current !== undefined && { current }),
    history,
    ...(failure && { failure }),
    ...(reinstalled !== undefined && { reinstalled }),
    ...optional('comparedWith', comparedWith),
  };
  return [
    ...denied.map((id): SettledRecord => ({ ...settled, denied: id })),
    ...(denied.length === 0 ? [settled] : []),
    ...(transition ? [{ type: 'Step', component, at, ...transition } as const] : []),
  ];
}

/** Returns the ids of all targets that the agent may still need. */
export function referencedTargets({ components }: JournalState): ReadonlySet<string> {
  const ids = [...components.values()].flatMap(({ current, history, transition }) => [
    current,
    ...history,
    transition?.from,
    transition?.to,
  ]);
  return new Set(ids.filter((id) => id !== undefined));
}

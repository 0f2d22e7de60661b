/** Small builders for plans and the two directions of a transition. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type {
  SettledState,
  StepRecord,
  Transition,
  TransitionFailure,
  TransitionStep,
} from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentAction, ComponentPlan, ComponentWaitReason } from '../operation.ts';

/** Where the transition leads to now, and what it leaves. Undefined stands for: not installed. */
export interface Ends {
  readonly origin: Target | undefined;
  readonly goal: Target | undefined;
}

export type KnownTargets = Pick<ComponentInput, 'desired' | 'targets'>;

export function endsOf(input: KnownTargets, { direction, from, to }: Transition): Ends {
  const [before, after] = [findTarget(input, from), findTarget(input, to)];
  return direction === 'Forward' ? { origin: before, goal: after } : { origin: after, goal: before };
}

function findTarget({ desired, targets }: KnownTargets, id: string | undefined): Target | undefined {
  if (id === undefined) return undefined;
  // Until it is stored, the target exists in the Machine only.
  return (
    targets.get(id) ?? (desired.state === 'Present' && desired.target.id === id ? desired.target : undefined)
  );
}

export function componentWait(reason: ComponentWaitReason, message: string): ComponentPlan {
  return { actions: [], wait: { reason, message } };
}

/** The operations, then the record of the next step. */
export function advance(
  input: ComponentInput,
  operations: readonly ComponentAction[],
  next: { readonly transition: Transition; readonly because: string },
): ComponentPlan {
  const { component, now } = input;
  const record: StepRecord = { type: 'Step', component, at: now.toISOString(), ...next.transition };
  return { actions: [...operations, { type: 'Record', record, because: next.because }] };
}

export function toStep(transition: Transition, step: TransitionStep, bootId = transition.bootId): Transition {
  return { ...transition, step, bootId };
}

export interface SettleOptions {
  readonly denied?: string;
  readonly failure?: TransitionFailure;
  readonly reinstalled?: string;
  readonly operations?: readonly ComponentAction[];
}

export function settle(
  { component, now, progress }: ComponentInput,
  end: {
    readonly state: SettledState;
    readonly current?: string | undefined;
    readonly previous?: string | undefined;
    readonly because: string;
  },
  { denied, failure, reinstalled, operations = [] }: SettleOptions = {},
): ComponentPlan {
  const { state, current, previous, because } = end;
  const record = {
    type: 'Settled',
    component,
    at: now.toISOString(),
    state,
    ...(current !== undefined && { current }),
    history: historyAfter(progress.history, current, previous),
    ...(denied !== undefined && { denied }),
    ...(failure && { failure }),
    ...(reinstalled !== undefined && { reinstalled }),
    ...(current === undefined && optional('comparedWith', progress.comparedWith)),
  } as const;
  return { actions: [...operations, { type: 'Record', record, because }] };
}

/** The largest `keepVersions` needs so many versions besides the one in force. */
const MAX_HISTORY = 4;

function historyAfter(
  history: readonly string[],
  current: string | undefined,
  previous: string | undefined,
): readonly string[] {
  const ids = [...(previous === undefined ? [] : [previous]), ...history];
  return [...new Set(ids)].filter((id) => id !== current).slice(0, MAX_HISTORY);
}

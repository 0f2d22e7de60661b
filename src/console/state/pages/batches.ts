/** The batches of a rollout as the steps of a stepper. Pure; runs in the page. */
import type { RolloutCard } from '../state.ts';

export interface BatchStep {
  /** The number of the batch, from 1. */
  readonly number: number;
  readonly state: 'done' | 'current' | 'next';
}

/** The most steps that fit beside each other. */
const MAX_STEPS = 12;

const PLACE = /^(?<at>\d+) of (?<of>\d+)$/;

/** Returns the steps. Empty: the rollout has no batch now, or how many there are is not known yet. */
export function batchSteps({ batch, state }: Pick<RolloutCard, 'batch' | 'state'>): readonly BatchStep[] {
  const place = PLACE.exec(batch?.place ?? '')?.groups;
  if (!place || state === 'Completed') return [];
  const [current, count] = [Number(place['at']), Number(place['of'])];
  return count > MAX_STEPS ? [] : Array.from({ length: count }, (_, index) => stepOf(index + 1, current));
}

function stepOf(number: number, current: number): BatchStep {
  return { number, state: stepState(number, current) };
}

function stepState(number: number, current: number): BatchStep['state'] {
  if (number === current) return 'current';
  return number < current ? 'done' : 'next';
}

/** States of the console for tests. */
import { type ClusterLine, type ConsoleState, NO_STATE } from '../../src/console/state/state.ts';

export function clusterLine(name: string, fields: Partial<ClusterLine> = {}): ClusterLine {
  return {
    name,
    order: 0,
    stage: 'prod',
    commit: 'abc',
    state: 'Proven',
    synced: 'True',
    health: 'Healthy',
    because: '',
    ...fields,
  };
}

/** Machines by key, with their phases. */
export function stateOf(
  phases: Readonly<Record<string, string>>,
  rest: Partial<ConsoleState> = {},
): ConsoleState {
  const machines = Object.fromEntries(Object.entries(phases).map(([key, p]) => [key, { p }]));
  return { ...NO_STATE, machines, ...rest };
}

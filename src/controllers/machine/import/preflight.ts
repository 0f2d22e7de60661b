/** Judges the facts of a host before it is imported. Pure. */
import type { Machine, MachineImportStatus, MachinePreflight } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ServerAddress } from '../../../providers/ssh/preflight/check.ts';
import { type CheckResult, evaluatePreflight } from '../../../providers/ssh/preflight/evaluate.ts';
import type { InspectedHost } from '../../../providers/ssh/preflight/inspect.ts';
import { finalFailure, type ImportFailure } from './failure.ts';
import { nodeAdoption } from './own-node.ts';

export interface PreflightOutcome {
  readonly preflight: MachinePreflight;
  readonly ids: Pick<MachineImportStatus, 'machineID' | 'systemUUID'>;
  readonly failure?: ImportFailure;
}

/** Other Machines are compared when the step ends: they are not known on the host. */
const COMPARED_LATER = 'DuplicateHost';
/** The check that fails on a host that is a Node already and is not adopted. */
const EXISTING_NODE = 'Kubelet';

export interface HostSurroundings {
  readonly server?: ServerAddress | undefined;
  /** The Node with the name of the Machine. */
  readonly node?: KubeObject | undefined;
}

export function judgeHost(
  machine: Machine,
  { facts, started, ended, notRootReason }: InspectedHost,
  { server, node }: HostSurroundings = {},
): PreflightOutcome {
  const { spec } = machine;
  const input = {
    facts,
    started,
    ended,
    ...optional('server', server),
    ...optional('notRootReason', notRootReason),
    ...optional('adoption', nodeAdoption(machine, node, facts)),
  };
  const skipped = [...(spec.import?.skipChecks ?? []), COMPARED_LATER];
  const results = evaluatePreflight(input, skipped);
  return {
    preflight: { at: ended.toISOString(), results: results.map(recorded) },
    ids: { ...optional('machineID', facts.machineId), ...optional('systemUUID', facts.systemUuid) },
    ...optional('failure', stepFailure(results.filter(({ state }) => state === 'Fail'))),
  };
}

function recorded({ check, state, found, hint }: CheckResult): {
  check: string;
  result: CheckResult['state'];
  message: string;
} {
  return { check, result: state, message: hint === undefined ? found : `${found}: ${hint}` };
}

function stepFailure(failed: readonly CheckResult[]): ImportFailure | undefined {
  if (failed.length === 0) return undefined;
  const isNode = failed.some(({ check }) => check === EXISTING_NODE);
  const texts = failed.map((result) => `${result.check}: ${recorded(result).message}`);
  return finalFailure(isNode ? 'ExistingNode' : 'PreflightFailed', texts.join('; '));
}

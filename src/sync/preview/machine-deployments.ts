/** Describes how Cluster API carries a commit out on its machines: in place, or by replacement. Pure. */
import { wrapText } from '../../kube/objects/printable.ts';

/** The MachineDeployments in one cluster. They are unknown if what decides was not read. */
export type TargetDeployments =
  | { readonly state: 'Known'; readonly deployments: readonly PlannedDeployment[] }
  | { readonly state: 'Unknown'; readonly because: string };

export interface PlannedDeployment {
  /** Namespace and name of the MachineDeployment. */
  readonly name: string;
  readonly replicas: number;
  readonly type: 'InPlace' | 'Replace' | 'Wait';
  readonly because: string;
}

const TEXTS: Record<PlannedDeployment['type'], string> = {
  InPlace: 'updated in place',
  Replace: 'REPLACED by Cluster API',
  Wait: 'not updated yet, and not replaced',
};
const COLUMNS = 80;
const INDENT = '  ';

/** Formats them, indented below the name of the cluster. */
export function formatTargetDeployments(target: TargetDeployments | undefined): readonly string[] {
  if (!target) return [];
  if (target.state === 'Unknown') return hang(`machines of Cluster API: not known: ${target.because}`);
  return target.deployments.flatMap(({ name, replicas, type, because }) =>
    hang(`machines of ${name}: ${replicas} ${TEXTS[type]}: ${because}`),
  );
}

function hang(text: string): readonly string[] {
  return wrapText(text, COLUMNS - 2 * INDENT.length).map(
    (line, index) => `${INDENT.repeat(index === 0 ? 1 : 2)}${line}`,
  );
}

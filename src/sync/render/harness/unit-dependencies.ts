/**
 * Reads the dependencies between charts that a program declares with `addDependency`, as the annotation by which sync orders units. A
 * dependency between objects of two charts counts for the charts.
 */
import { ANNOTATION_DEPENDS_ON } from '../../../api/names.ts';
import { isRecord, textAt } from '../../../kube/objects/json.ts';

/** The parts of a construct that are used. */
interface DependentConstruct {
  readonly node: {
    readonly path: string;
    readonly dependencies: readonly DependentConstruct[];
    readonly scopes: readonly DependentConstruct[];
  };
}

export interface UnitName {
  readonly target: string;
  readonly unit: string;
}

export interface UnitDependenciesOfProgram {
  /** The units that the objects of each chart depend on. */
  readonly byChart: ReadonlyMap<DependentConstruct, ReadonlySet<string>>;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

/** Returns the target and the unit of a chart: its path is `test/web`. */
export function unitNameOf({ node }: DependentConstruct): UnitName {
  const [target = '', ...unit] = node.path.split('/');
  return { target, unit: unit.join('-') || 'default' };
}

export function unitDependenciesOf(
  all: readonly DependentConstruct[],
  isChart: (construct: DependentConstruct) => boolean,
): UnitDependenciesOfProgram {
  const byChart = new Map<DependentConstruct, Set<string>>();
  const problems: { path: string; message: string }[] = [];
  const chartOf = ({ node }: DependentConstruct): DependentConstruct | undefined =>
    node.scopes.toReversed().find(isChart);
  for (const construct of all) {
    for (const dependency of construct.node.dependencies) {
      const [from, to] = [chartOf(construct), chartOf(dependency)];
      const message = problemOf(construct, dependency, [from, to]);
      if (message !== undefined) problems.push({ path: construct.node.path, message });
      else if (from && to && from !== to) {
        byChart.set(from, (byChart.get(from) ?? new Set<string>()).add(unitNameOf(to).unit));
      }
    }
  }
  return { byChart, problems };
}

function problemOf(
  construct: DependentConstruct,
  dependency: DependentConstruct,
  [from, to]: readonly [DependentConstruct | undefined, DependentConstruct | undefined],
): string | undefined {
  const [path, other] = [construct.node.path || 'the app', dependency.node.path || 'the app'];
  if (!from || !to) {
    return `${path} depends on ${other}: only units, and objects in units, can depend on each other: use the charts`;
  }
  const targets = [unitNameOf(from).target, unitNameOf(to).target];
  return targets[0] === targets[1]
    ? undefined
    : `${path} depends on ${other} of another cluster: sync orders units within one cluster only. Use stages of the Pipeline`;
}

/** Returns the object with the units in its annotation, beside those that it names itself. */
export function withDependencies(object: unknown, units: ReadonlySet<string> | undefined): unknown {
  if (!units || !isRecord(object) || !isRecord(object['metadata'])) return object;
  const { metadata } = object;
  const own = textAt(metadata, 'annotations', ANNOTATION_DEPENDS_ON);
  const text = [...(own === undefined ? [] : [own]), ...units].join(', ');
  const before = isRecord(metadata['annotations']) ? metadata['annotations'] : {};
  const annotations = { ...before, [ANNOTATION_DEPENDS_ON]: text };
  return { ...object, metadata: { ...metadata, annotations } };
}

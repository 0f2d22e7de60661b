/** Runs a cdk8s program and writes every object that it declares. The path of a chart is the target and the unit. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shapeReason } from '../../../kube/objects/shape.ts';
import type { Output } from './output.ts';
import { problemOf, type SourceLocation, type SourceLocator } from './source-location.ts';
import {
  type UnitDependenciesOfProgram,
  unitDependenciesOf,
  unitNameOf,
  withDependencies,
} from './unit-dependencies.ts';

// The parts of cdk8s and constructs that we use. Both are loaded as the program resolves them.
interface Construct {
  readonly node: ConstructNode;
}
interface ConstructNode {
  readonly path: string;
  readonly root: Construct;
  readonly scopes: Construct[];
  readonly dependencies: Construct[];
  findAll(): Construct[];
  validate(): string[];
}
interface Cdk8s {
  readonly App: { readonly prototype: { synth: () => void } };
  readonly Chart: { isChart(x: unknown): boolean; of(construct: Construct): Construct };
  readonly ApiObject: { isApiObject(x: unknown): boolean };
}
type AddChild = (this: ConstructNode, child: Construct, name: string) => unknown;
type Synthesized = Construct & {
  toJson(): unknown;
  readonly kind?: string;
  readonly name?: string;
  readonly props?: { readonly metadata?: unknown };
};

export async function renderProgram(
  root: string,
  file: string,
  locator: SourceLocator,
  out: Output,
): Promise<void> {
  const entry = join(root, file);
  const require = createRequire(entry);
  const trees = recordConstructs(
    require('constructs') as { Node: { prototype: { addChild: AddChild } } },
    locator,
  );
  const { App, Chart, ApiObject } = require('cdk8s') as Cdk8s;
  // A program ends with `app.synth()`, which writes files. We read the objects from the constructs instead.
  App.prototype.synth = () => undefined;
  await import(pathToFileURL(entry).href);

  for (const tree of trees.roots) emitTree(tree);
  if (trees.roots.size === 0) {
    out.problem('Failed', { message: 'the program declares no Fleet, or an empty one', file });
  }

  function emitTree(tree: Construct): void {
    const all = tree.node.findAll();
    const invalid = all.filter((construct) => !emitProblems(construct)).length;
    if (invalid > 0) return;
    const { byChart, problems } = unitDependenciesOf(all, (each) => Chart.isChart(each));
    for (const { path, message } of problems) {
      const construct = all.find(({ node }) => node.path === path);
      const location = construct && trees.locations.get(construct);
      out.problem('BadObject', { message, construct: path, ...location });
    }
    for (const construct of all) {
      if (ApiObject.isApiObject(construct)) emitObject(construct as Synthesized, byChart);
    }
  }

  /** Writes the validation errors of a construct. True when there are none. */
  function emitProblems(construct: Construct): boolean {
    const { path } = construct.node;
    const shape = ApiObject.isApiObject(construct) ? shapeProblem(construct as Synthesized) : undefined;
    const problems = shape === undefined ? construct.node.validate() : [shape];
    for (const message of problems) {
      out.problem('BadObject', { message, construct: path, ...trees.locations.get(construct) });
    }
    return problems.length === 0;
  }

  function emitObject(construct: Synthesized, byChart: UnitDependenciesOfProgram['byChart']): void {
    const { path } = construct.node;
    const location = trees.locations.get(construct);
    try {
      const chart = Chart.of(construct);
      const object = withDependencies(construct.toJson(), byChart.get(chart));
      out.object({
        object,
        ...unitNameOf(chart),
        construct: path,
        ...fileAndLine(location),
      });
    } catch (error) {
      out.problem('BadObject', { ...problemOf(error, locator, path), ...location });
    }
  }
}

/** cdk8s copies labels and annotations, whatever they are; and of an object nested too deeply, even its checks run out of stack. */
function shapeProblem(construct: Synthesized): string | undefined {
  const reason = shapeReason(construct.props);
  return reason === undefined ? undefined : `${nameOf(construct)}: ${reason}`;
}

function nameOf({ kind, name, node }: Synthesized): string {
  return kind === undefined ? node.path : `${kind} ${name ?? ''}`.trim();
}

function fileAndLine(location: SourceLocation | undefined): { file?: string } {
  return location ? { file: `${location.file}:${location.line}` } : {};
}

interface ConstructTrees {
  readonly roots: Set<Construct>;
  readonly locations: Map<Construct, SourceLocation>;
}

/** Every construct is added to its parent when it is created: only then is the line of the program on the stack. */
function recordConstructs(
  constructs: { Node: { prototype: { addChild: AddChild } } },
  locator: SourceLocator,
): ConstructTrees {
  const trees: ConstructTrees = { roots: new Set(), locations: new Map() };
  const { prototype } = constructs.Node;
  const add = prototype.addChild;
  prototype.addChild = function addChild(child, name) {
    trees.roots.add(this.root);
    const location = locator.here();
    if (location) trees.locations.set(child, location);
    return add.call(this, child, name);
  };
  return trees;
}

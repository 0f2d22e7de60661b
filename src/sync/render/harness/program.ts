/** Runs a cdk8s program and says what it declared, object by object. A chart's path is the target and the unit. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Output } from './output.ts';
import { problemOf, type SourceLocation, type SourceLocator } from './source-location.ts';

// Only what is used of cdk8s and constructs, which are loaded as the program finds them.
interface Construct {
  readonly node: ConstructNode;
}
interface ConstructNode {
  readonly path: string;
  readonly root: Construct;
  findAll(): Construct[];
  validate(): string[];
}
interface Cdk8s {
  readonly App: { readonly prototype: { synth: () => void } };
  readonly Chart: { isChart(x: unknown): boolean; of(construct: Construct): Construct };
  readonly ApiObject: { isApiObject(x: unknown): boolean };
}
type AddChild = (this: ConstructNode, child: Construct, name: string) => unknown;
type Synthesised = Construct & { toJson(): unknown };

export async function renderProgram(
  root: string,
  file: string,
  locator: SourceLocator,
  out: Output,
): Promise<void> {
  const entry = join(root, file);
  const require = createRequire(entry);
  const trees = watchConstructs(
    require('constructs') as { Node: { prototype: { addChild: AddChild } } },
    locator,
  );
  const { App, Chart, ApiObject } = require('cdk8s') as Cdk8s;
  // A program ends with `app.synth()`, which writes files. Here the objects are taken from the constructs.
  App.prototype.synth = () => undefined;
  await import(pathToFileURL(entry).href);

  for (const tree of trees.roots) emitTree(tree);
  if (trees.roots.size === 0) {
    out.problem('Failed', { message: 'the program made no Fleet with anything in it', file });
  }

  function emitTree(tree: Construct): void {
    const all = tree.node.findAll();
    const invalid = all.filter((construct) => !emitProblems(construct)).length;
    if (invalid > 0) return;
    for (const construct of all) {
      if (ApiObject.isApiObject(construct)) emitObject(construct as Synthesised);
    }
  }

  /** All that constructs object to, each with its own place. False when there is something. */
  function emitProblems(construct: Construct): boolean {
    const { path } = construct.node;
    const problems = construct.node.validate();
    for (const message of problems) {
      out.problem('BadObject', { message, construct: path, ...trees.made.get(construct) });
    }
    return problems.length === 0;
  }

  function emitObject(construct: Synthesised): void {
    const { path } = construct.node;
    const place = trees.made.get(construct);
    try {
      const [target = '', ...unit] = Chart.of(construct).node.path.split('/');
      const object = construct.toJson();
      out.object({ object, target, unit: unit.join('-') || 'default', construct: path, ...at(place) });
    } catch (error) {
      out.problem('BadObject', { ...problemOf(error, locator, path), ...place });
    }
  }
}

function at(place: SourceLocation | undefined): { file?: string } {
  return place ? { file: `${place.file}:${place.line}` } : {};
}

interface Trees {
  readonly roots: Set<Construct>;
  readonly made: Map<Construct, SourceLocation>;
}

/** Every construct passes here when it is made: the only moment that knows the line it was made on. */
function watchConstructs(
  constructs: { Node: { prototype: { addChild: AddChild } } },
  locator: SourceLocator,
): Trees {
  const trees: Trees = { roots: new Set(), made: new Map() };
  const { prototype } = constructs.Node;
  const add = prototype.addChild;
  prototype.addChild = function addChild(child, name) {
    trees.roots.add(this.root);
    const place = locator.here();
    if (place) trees.made.set(child, place);
    return add.call(this, child, name);
  };
  return trees;
}

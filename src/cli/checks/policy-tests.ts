/** Runs the tests of policies that a fleet has, for `kubenode plan` and `kubenode validate`: which ones fail, and where. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { POLICY_TESTS_FOLDER } from '../../api/validation/policy-tests.ts';
import { policyTestFailure } from '../../defender/policy-tests/run.ts';
import { valueAt } from '../../kube/objects/json.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { openWorkingTree } from '../../sync/git/working-tree.ts';
import { isRenderError, type RenderProblem } from '../../sync/render/errors.ts';
import type { CommitRender, FolderRender, Renderer } from '../../sync/render/renderer.ts';

export interface PolicyTestReport {
  readonly count: number;
  readonly failures: readonly RenderProblem[];
}

/** A file that cannot be loaded is a failure too. */
export async function runPolicyTests(
  renderer: Renderer,
  request: CommitRender | FolderRender,
  file?: string,
): Promise<PolicyTestReport> {
  try {
    const all = await renderer.policyTests(request);
    const tests = all.filter(({ source }) => file === undefined || locationOf(source.file).file === file);
    const failures = tests.flatMap(({ object, source }): readonly RenderProblem[] => {
      const message = policyTestFailure({
        policies: valueAt(object, 'spec', 'policies'),
        test: valueAt(object, 'spec', 'test'),
      });
      // It repeats names from the test.
      return message === undefined ? [] : [{ message: printableLine(message), ...locationOf(source.file) }];
    });
    return { count: tests.length, failures };
  } catch (error) {
    if (!isRenderError(error)) throw error;
    return { count: 0, failures: error.problems };
  }
}

/** `rules/test/policies/fleet-default.ts:12` */
function locationOf(source = ''): { readonly file: string; readonly line: number } {
  const [file = '', line = '1'] = source.split(/:(?=\d+$)/);
  return { file, line: Number(line) };
}

export interface PolicyTestsPlace extends FolderRender {
  readonly path: string;
  /** Only the tests of this file, relative to the folder. */
  readonly file?: string;
}

/**
 * The tests that a path means: a fleet, its folder `rules` or one below, or one file. The whole repository is what they may
 * import from. Undefined when there are none.
 */
export async function findPolicyTests(path: string): Promise<PolicyTestsPlace | undefined> {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const start = isFile ? dirname(path) : path;
  const tails = POLICY_TESTS_FOLDER.split('/').map((_, index, parts) => parts.slice(index).join('/'));
  const folder = [...tails.map((tail) => join(start, tail)), start].find(
    (each) => each.endsWith(`${sep}${POLICY_TESTS_FOLDER}`) && existsSync(each),
  );
  if (folder === undefined || (isFile && folder !== start)) return undefined;
  const fleet = realpathSync(folder.slice(0, -POLICY_TESTS_FOLDER.length - 1));
  const root = await openWorkingTree(fleet).then(
    (tree) => tree.root,
    () => fleet,
  );
  const below = fleet.slice(root.length + 1) || '.';
  const file = { file: join(below, POLICY_TESTS_FOLDER, basename(path)) };
  return { folder: root, path: below, ...(isFile ? file : {}) };
}

/** What the sandboxed process is told, and the lines that it answers. The answer is foreign data: result.ts checks it. */
import type { RenderErrorCode, RenderProblem } from './errors.ts';
import type { Toolchain } from './toolchain.ts';

export interface RenderJob {
  /** Absolute path of the exported commit. */
  readonly root: string;
  /** Folder in it: `Pipeline.spec.source.path`. */
  readonly path: string;
  /** For `fleet.facts`. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Packages of the running kubenode: name to folder. */
  readonly packages: Readonly<Record<string, string>>;
  /** For warnings. */
  readonly versions: Readonly<Record<string, string>>;
  /** Folder of kubenode's own code, which may lie in the very repository that is rendered. */
  readonly code: string;
  /** File behind `kubenode/constructs`. */
  readonly constructs: string;
}

export function jobFor(
  toolchain: Toolchain,
  root: string,
  path = '.',
  facts: RenderJob['facts'] = {},
): RenderJob {
  const { packages, versions, constructs, code } = toolchain;
  return { root, path, facts, packages, versions, constructs, code };
}

export type OutputLine =
  | {
      readonly object: unknown;
      readonly target: string;
      readonly unit: string;
      readonly file?: string;
      readonly construct?: string;
    }
  | { readonly code: RenderErrorCode; readonly problem: RenderProblem }
  | { readonly warning: string }
  /** The last one. Without it the rest is a part, and worth nothing. */
  | { readonly end: number };

/** The descriptor that lines are written to: what a program prints cannot get between. */
export const RESULT_FD = 3;

/** Where `fleet.facts` looks. */
export const FACTS = Symbol.for('kubenode.facts');

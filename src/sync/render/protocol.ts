/** The input of the sandboxed process and the lines that it writes. They are untrusted data: result.ts checks them. */
import type { RenderErrorCode, RenderProblem } from './errors.ts';
import type { Toolchain } from './toolchain.ts';

export interface RenderJob {
  /** Absolute path of the exported commit. */
  readonly root: string;
  /** Folder of the commit: `Pipeline.spec.source.path`. */
  readonly path: string;
  /** For `fleet.facts`. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Packages of the running kubenode, name to folder. */
  readonly packages: Readonly<Record<string, string>>;
  /** Versions of these packages, for warnings. */
  readonly versions: Readonly<Record<string, string>>;
  /** Folder of kubenode's own code, which may be inside of the rendered repository. */
  readonly code: string;
  /** The file that `kubenode/constructs` resolves to. */
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
  /** The last line, with the number of objects. Without it the result is incomplete. */
  | { readonly end: number };

/** The file descriptor of the lines: separate from stdout, so that output of the program cannot mix with them. */
export const RESULT_FD = 3;

/** The global property that `fleet.facts` reads. */
export const FACTS_SYMBOL = Symbol.for('kubenode.facts');

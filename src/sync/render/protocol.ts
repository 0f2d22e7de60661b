/** The input of the sandboxed process and the lines that it writes. They are untrusted data: result.ts checks them. */
import type { RenderErrorCode, RenderProblem } from './errors.ts';
import type { Toolchain } from './sandbox/toolchain.ts';

export interface RenderJob {
  /** Absolute path of the exported commit. */
  readonly root: string;
  /** Folder of the commit: `Pipeline.spec.source.path`. */
  readonly path: string;
  /** The values that `fleet.facts` returns. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Selects what is read: the objects that the commit declares, or the tests of its policies. */
  readonly content: RenderContent;
  /** Packages of the running kubenode, name to folder. */
  readonly packages: Readonly<Record<string, string>>;
  /** Versions of these packages, for warnings. */
  readonly versions: Readonly<Record<string, string>>;
  /** Folder of kubenode's own code, which may be inside of the rendered repository. */
  readonly code: string;
  /** The file that `kubenode/constructs` resolves to. */
  readonly constructs: string;
}

export type RenderContent = 'objects' | 'policyTests';

/** Each test leaves the sandbox in the form of an object, so that the same checks and limits apply to it. */
export const POLICY_TEST = { apiVersion: 'kubenode.dev/tests', kind: 'PolicyTest' } as const;

export interface JobInputs {
  readonly path?: string;
  readonly facts?: RenderJob['facts'];
  readonly content?: RenderContent;
}

export function jobFor(toolchain: Toolchain, root: string, inputs: JobInputs = {}): RenderJob {
  const { path = '.', facts = {}, content = 'objects' } = inputs;
  const { packages, versions, constructs, code } = toolchain;
  return { root, path, facts, content, packages, versions, constructs, code };
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
  /** The last line has the number of objects. Without it the result is incomplete. */
  | { readonly end: number };

/** The file descriptor of the lines: separate from stdout, so that output of the program cannot mix with them. */
export const RESULT_FD = 3;

/** The global property that `fleet.facts` reads. */
export const FACTS_SYMBOL = Symbol.for('kubenode.facts');

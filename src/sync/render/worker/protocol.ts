/** The messages between a renderer and its worker, which is our own program: its messages are trusted. */
import type { ContentVerdict } from '../../content-verdict.ts';
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../../rendered.ts';
import type { RenderInputs } from '../cache.ts';
import type { RenderErrorCode, RenderProblem } from '../errors.ts';
import type { RenderJob } from '../protocol.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export interface RenderTask {
  /** Runs these, and compares their results. Absent: reads the cache only. */
  readonly run?: {
    readonly sandbox: Omit<Sandbox, 'isolation'>;
    /** Names of the mechanisms of the isolation. */
    readonly isolation: readonly string[];
    readonly jobs: readonly RenderJob[];
  };
  readonly cache?: { readonly folder: string; readonly inputs: RenderInputs };
  /** Judges the result, and sends the objects only if they are accepted. */
  readonly judge?: boolean;
}

/** Objects come in parts, each followed by its unit and target, so that no message takes long to read. */
export type RenderMessage =
  | { readonly objects: readonly RenderedObject[] }
  | { readonly unit: Omit<RenderedUnit, 'objects'> }
  | { readonly target: Omit<RenderedTarget, 'units'> }
  /** The result was read, and the judge begins: if the worker ends now, the commit has ended it. */
  | { readonly judging: true }
  | { readonly done: { readonly warnings: readonly string[]; readonly verdict?: ContentVerdict } }
  /** The cache has no entry. */
  | { readonly missing: true }
  | {
      readonly failed: {
        readonly code: RenderErrorCode;
        readonly problems: readonly RenderProblem[];
        readonly hint: string | undefined;
      };
    }
  /** An error of the machine, and not of the commit. */
  | { readonly broken: { readonly message: string; readonly code: string | undefined } };

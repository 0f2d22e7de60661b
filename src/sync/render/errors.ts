/** Why a commit cannot be rendered. Callers branch on `code`; the problems are for people. */
import { listTargets } from '../target-names.ts';

export type RenderErrorCode =
  | 'NotExported' // the commit has more or larger files than a render reads, or files that cannot be written
  | 'NoEntry' // neither a program nor YAML to render
  | 'Failed' // the program threw, or exited early
  | 'BadObject' // an invalid Kubernetes object, or one of our kinds that violates its schema
  | 'Denied' // the program used something that the sandbox denies
  | 'MissingModule' // the program imports a package that is not in the toolchain
  | 'Timeout'
  | 'OutOfMemory'
  | 'TooMuchOutput'
  | 'NotDeterministic'; // two renders of the same commit differ

export const RENDER_ERROR_CODES: readonly RenderErrorCode[] = [
  'NotExported',
  'NoEntry',
  'Failed',
  'BadObject',
  'Denied',
  'MissingModule',
  'Timeout',
  'OutOfMemory',
  'TooMuchOutput',
  'NotDeterministic',
];

export interface RenderProblem {
  readonly message: string;
  /** Path in the repository. */
  readonly file?: string;
  readonly line?: number;
  /** Path of the cdk8s construct. */
  readonly construct?: string;
}

const MAX_LISTED = 20;

export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly code: RenderErrorCode;
  readonly problems: readonly RenderProblem[];
  readonly where: string | undefined;
  readonly hint: string | undefined;

  constructor(code: RenderErrorCode, problems: readonly RenderProblem[], hint?: string, cause?: unknown) {
    super(summaryOf(problems), { cause });
    this.code = code;
    this.problems = problems;
    this.where = problems[0] ? formatLocation(problems[0]) : undefined;
    this.hint = hint;
  }
}

export function isRenderError(error: unknown, ...codes: RenderErrorCode[]): error is RenderError {
  return error instanceof RenderError && (codes.length === 0 || codes.includes(error.code));
}

/** Formats the place of a problem: `fleet/main.ts:12 (test/machines/general)`. */
export function formatLocation({ file, line, construct }: RenderProblem): string | undefined {
  const position = file === undefined ? undefined : `${file}${line === undefined ? '' : `:${line}`}`;
  if (position === undefined || construct === undefined) return position ?? construct;
  return `${position} (${construct})`;
}

/** The same problem of many clusters has one cause: it is listed once, with the clusters. */
function summaryOf(problems: readonly RenderProblem[]): string {
  const groups = [...Map.groupBy(problems, causeOf).values()];
  const lines = groups.slice(0, MAX_LISTED).map(lineOf);
  const more = groups.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

function causeOf({ message, file, line, construct }: RenderProblem): string {
  return JSON.stringify([message, file, line, pathInTarget(construct)]);
}

/** `rules/kernel-hang` of `test/rules/kernel-hang`: the path of a construct begins with the cluster. */
function pathInTarget(construct: string | undefined): string | undefined {
  return construct?.slice(construct.indexOf('/') + 1);
}

function lineOf([first, ...others]: readonly RenderProblem[]): string {
  if (!first) return '';
  const { message, construct } = first;
  const targets = [first, ...others].flatMap((each) => each.construct?.split('/', 1) ?? []);
  const isShared = construct?.includes('/') === true && new Set(targets).size > 1;
  const shared = isShared ? { construct: `${pathInTarget(construct)} in ${listTargets(targets)}` } : {};
  const location = formatLocation({ ...first, ...shared });
  return location ? `${message} [${location}]` : message;
}

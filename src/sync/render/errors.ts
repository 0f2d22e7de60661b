/** Why a commit does not render. `code` is what callers branch on; the problems say where, for people. */
export type RenderErrorCode =
  | 'NoEntry' // nothing that could be rendered
  | 'Failed' // the program threw, or ended early
  | 'BadObject' // it rendered what is no Kubernetes object, or one of our kinds that breaks its schema
  | 'Denied' // it reached for what a render may not have
  | 'MissingModule' // it imports what is not in the toolchain
  | 'Timeout'
  | 'OutOfMemory'
  | 'TooMuchOutput'
  | 'NotDeterministic'; // two renders of the same commit differ

export const RENDER_ERROR_CODES: readonly RenderErrorCode[] = [
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
  /** Relative to the repository. */
  readonly file?: string;
  readonly line?: number;
  /** Path of the cdk8s construct. */
  readonly construct?: string;
}

const MAX_LISTED = 20;

export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly code: RenderErrorCode;
  /** All of them. */
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

/** `fleet/main.ts:12 (test/machines/general)` */
export function formatLocation({ file, line, construct }: RenderProblem): string | undefined {
  const at = file === undefined ? undefined : `${file}${line === undefined ? '' : `:${line}`}`;
  if (at === undefined || construct === undefined) return at ?? construct;
  return `${at} (${construct})`;
}

function summaryOf(problems: readonly RenderProblem[]): string {
  const lines = problems.slice(0, MAX_LISTED).map((problem) => {
    const place = formatLocation(problem);
    return place ? `${problem.message} [${place}]` : problem.message;
  });
  const more = problems.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

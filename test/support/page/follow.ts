/** A reader who follows a page: enters its statements in order, and expects of each what the page promises. */
import { eventually } from '../eventually.ts';
import type { Page } from './page.ts';
import { withoutComment } from './statements.ts';
import { openTerminal, type Program, type Ran, type Terminal, type TerminalOptions } from './terminal.ts';

/** What the page promises of a statement. Without one, it ends with 0; a program that runs until Ctrl-C is left running. */
export interface Expectation {
  /** Part of the statement: of the next one that contains it. */
  readonly at: string;
  readonly exits?: number;
  /** It is entered again until it prints this: only for what reads. */
  readonly prints?: RegExp;
  /** It runs until it prints this. Then it is left running, or gets Ctrl-C if it is to end. */
  readonly until?: RegExp;
  readonly end?: 'Ctrl-C';
  /** In place of the keyboard: what is typed into it. */
  readonly types?: string;
  readonly before?: Act;
  readonly after?: Act;
}

/** What both streams have, or what is true of stdout. */
export type Printed = RegExp | ((stdout: string) => boolean);

export type Act = (reader: Reader) => Promise<void>;

export interface Reader {
  /** In the terminal in which the page is read now. Throws unless it exits with 0. */
  run(line: string): Promise<Ran>;
  /** Enters it until it prints that. */
  shows(line: string, printed: Printed): Promise<void>;
  /** Ctrl-C in each terminal in which a program runs. */
  interruptAll(): Promise<void>;
  readonly page: Page;
}

export interface Reading {
  readonly page: Page;
  readonly before?: Act;
  readonly expectations: readonly Expectation[];
  readonly isLeftOut: (title: string, statement: string) => boolean;
  /** Names in the page that other programs of this machine use at the same time, and those in their place. */
  readonly instead: Readonly<Record<string, string>>;
  readonly terminal: TerminalOptions;
}

/** As the limit of a poll in the project e2e: it ends what hangs. */
const PATIENCE_MS = 600_000;
/** What runs until Ctrl-C, and is not put into the background. */
const STAYS =
  /(?:^|\n)\s*(?:npm start|(?:npx )?kubenode (?:start|sync|controllers|console|agent run|agent simulate)\b(?! now))[^&]*$/;

/** Resolves to the number of statements that it entered. */
export async function followPage(reading: Reading): Promise<number> {
  const session = createSession(reading);
  try {
    await session.prepare();
    const open = [...reading.expectations];
    const statements = statementsToEnter(reading);
    for (const statement of statements) {
      const expectation = statement.includes(open[0]?.at ?? statement) ? open.shift() : undefined;
      // oxlint-disable-next-line no-await-in-loop -- in the order of the page
      await session.enter(statement, expectation ?? { at: statement });
    }
    const absent = open.map(({ at }) => new Error(`${reading.page.path} has no "${at}" behind the others`));
    for (const problem of [...absent, ...session.failures]) throw problem;
    return statements.length;
  } finally {
    await session.close();
  }
}

function statementsToEnter({ page, isLeftOut }: Reading): readonly string[] {
  return page.sections.flatMap(({ title, statements }) =>
    statements.filter((statement) => !isLeftOut(title, statement)),
  );
}

interface Session {
  prepare(): Promise<void>;
  /** Of what was left running, and ended by itself. */
  readonly failures: readonly Error[];
  enter(statement: string, expectation: Expectation): Promise<void>;
  close(): Promise<void>;
}

function createSession({ page, before: prepare, instead, terminal: options }: Reading): Session {
  const terminals: Terminal[] = [];
  const running = new Set<Program>();
  const failures: Error[] = [];
  let current: Terminal | undefined;

  async function terminal(): Promise<Terminal> {
    if (current) return current;
    current = await openTerminal(options);
    terminals.push(current);
    return current;
  }

  const replaced = (line: string): string =>
    Object.entries(instead).reduce((text, [from, to]) => text.replaceAll(from, to), line);

  const reader: Reader = {
    page,
    async run(line) {
      const ran = await (await terminal()).run(replaced(line));
      if (ran.code !== 0) throw failure(line, ran);
      return ran;
    },
    async shows(line, printed) {
      await untilPrinted(line, printed);
    },
    async interruptAll() {
      const programs = [...running];
      running.clear();
      await Promise.all(programs.map((program) => program.interrupt()));
    },
  };

  async function untilPrinted(line: string, printed: Printed): Promise<Ran> {
    let last: Ran | undefined;
    const found = async (): Promise<Ran | undefined> => {
      last = await (await terminal()).run(replaced(line));
      return isPrinted(printed, last) ? last : undefined;
    };
    const otherwise = `${line} does not print ${typeof printed === 'function' ? 'what it should' : printed}`;
    return await eventually(found, otherwise, PATIENCE_MS).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}, but\n${last?.stdout}${last?.stderr}`);
    });
  }

  async function watch(line: string, expectation: Expectation): Promise<void> {
    const { until, end } = expectation;
    const program = (await terminal()).begin(replaced(line));
    const found = async (): Promise<true | undefined> =>
      until === undefined || until.test(program.output()) || undefined;
    const ended = program.ended.then((ran) => Promise.reject(failure(line, ran)));
    const isThere = Promise.race([ended, eventually(found, `${line} does not print ${until}`, PATIENCE_MS)]);
    await isThere.catch((error: unknown) => {
      throw new Error(`${(error as Error).message}\n${program.output()}`);
    });
    if (end === 'Ctrl-C') return void (await program.interrupt());
    running.add(program);
    current = undefined;
    ended.catch((error: unknown) => void (running.delete(program) && failures.push(error as Error)));
  }

  async function once(line: string, { exits = 0, prints }: Expectation): Promise<void> {
    const ran = prints ? await untilPrinted(line, prints) : await (await terminal()).run(replaced(line));
    if (ran.code !== exits) throw failure(line, ran);
  }

  return {
    failures,
    prepare: async () => await prepare?.(reader),
    async enter(statement, expectation) {
      const { before, after, until, types } = expectation;
      await before?.(reader);
      const line = types === undefined ? statement : typed(withoutComment(statement), types);
      const stays = STAYS.test(withoutComment(statement));
      await (stays || until !== undefined ? watch(line, expectation) : once(line, expectation));
      await after?.(reader);
    },
    async close() {
      running.clear();
      await Promise.all(terminals.map((each) => each.close()));
    },
  };
}

function isPrinted(printed: Printed, { stdout, stderr }: Ran): boolean {
  return typeof printed === 'function' ? printed(stdout) : printed.test(`${stdout}${stderr}`);
}

/** On a terminal, which some commands ask for. */
function typed(line: string, text: string): string {
  return `script -qec '${line.replaceAll("'", String.raw`'\''`)}' /dev/null <<< '${text}'`;
}

function failure(line: string, { code, stdout, stderr }: Ran): Error {
  return new Error(`${line}: exit code ${code}\n${stdout}${stderr}`);
}

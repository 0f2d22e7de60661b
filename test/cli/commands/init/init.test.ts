import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../../../src/cli/run.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { tempFolder } from '../../../support/temp.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function kubenode(cwd: string, ...args: string[]): Promise<Outcome> {
  let [out, err] = ['', ''];
  const code = await run(
    {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      env: {},
      cwd,
      clock: createSystemClock(),
      interactive: false,
      color: false,
      signal: new AbortController().signal,
    },
    args,
  );
  return { code, out, err };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && !entry.parentPath.includes('.git/') && !entry.parentPath.endsWith('.git'),
    )
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

const COMMON = [
  '.github/workflows/plan.yaml',
  '.gitignore',
  '.gitlab-ci.yml',
  'README.md',
  'cdk8s.yaml',
  'package.json',
  'test/fleet.test.ts',
  'tsconfig.json',
];

describe.each([
  ['machines', [] as string[], ['fleet/machines.ts', 'rules/disk-pressure.ts'], 'machines'],
  ['plain objects', ['--plain'], ['fleet/shop.ts'], 'shop'],
])('kubenode init, with %s', { timeout: 120_000 }, (_, flags, own, unit) => {
  it('makes a repository that renders, and whose types hold', async () => {
    const folder = join(tempFolder('init'), 'My Fleet');
    const { code, err } = await kubenode('/', 'init', folder, ...flags);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('git commit') as string });
    expect(filesOf(folder)).toEqual(expect.arrayContaining([...COMMON, ...own, 'fleet/versions.ts']));
    expect(existsSync(join(folder, '.git'))).toBe(true);

    const rendered = await kubenode(folder, 'render', '.', '-o', 'json');
    const { targets } = JSON.parse(rendered.out) as {
      targets: { target: string; units: { unit: string }[] }[];
    };
    expect(targets.map(({ target }) => target)).toEqual(['hub', 'pre', 'prod', 'test']);
    expect(targets[1]?.units.map((one) => one.unit)).toContain(unit);

    // The packages as npm would put them there.
    mkdirSync(join(folder, 'node_modules'));
    for (const name of ['cdk8s', 'constructs', '@types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    }
    symlinkSync(ROOT, join(folder, 'node_modules', 'kubenode'));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '--customConditions', 'kubenode-source'], {
      cwd: folder,
      stdio: 'pipe',
    });
  });

  it('commits as it is, and renders the commit to the same', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode('/', 'init', folder, ...flags);
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'The fleet');
    const [files, commit] = [
      await kubenode(folder, 'render', '.'),
      await kubenode(folder, 'render', '--commit', 'HEAD'),
    ];
    expect(commit.out).toBe(files.out);
  });
});

describe('kubenode init', { timeout: 60_000 }, () => {
  it('points the pipeline at the folder, without a token', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode('/', 'init', folder, '--plain');
    const pipeline = readFileSync(join(folder, 'fleet/pipelines.ts'), 'utf8');
    expect(pipeline).toContain(`repository: 'file://${folder}'`);
    expect(pipeline).not.toContain('credentialsRef');
  });

  it('takes a repository, and keeps the place for its key', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode(
      '/',
      'init',
      folder,
      '--repository',
      'git@git.example.com:me/fleet',
      '--kubenode',
      'file:/x.tgz',
    );
    const pipeline = readFileSync(join(folder, 'fleet/pipelines.ts'), 'utf8');
    expect(pipeline).toContain(`repository: 'git@git.example.com:me/fleet'`);
    expect(pipeline).toContain('credentialsRef');
    const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect({ name, kubenode: dependencies['kubenode'] }).toEqual({ name: 'fleet', kubenode: 'file:/x.tgz' });
    expect(Object.values(dependencies).join()).not.toContain('@');
  });

  it.each([
    ['a folder that is not empty', ['.'], 65, /not empty/],
    [
      'a repository that nobody can fetch',
      ['new', '--repository', 'http://git.example.com/x'],
      64,
      /plain http/,
    ],
    [
      'a password in the URL',
      ['new', '--repository', 'https://a:s3cret@git.example.com/x'],
      64,
      /credentialsRef/,
    ],
  ])('refuses %s, and writes nothing', async (_, args, code, words) => {
    const cwd = tempFolder('init');
    writeFileSync(join(cwd, 'mine'), 'x');
    const outcome = await kubenode(cwd, 'init', ...args);
    expect(outcome.code).toBe(code);
    expect(outcome.err).toMatch(words);
    expect(outcome.err).not.toContain('s3cret');
    expect(readdirSync(cwd)).toEqual(['mine']);
  });

  it('gives CI a job that holds no credential of a cluster and fails when the plan does', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode('/', 'init', folder, '--plain');
    const github = parse(readFileSync(join(folder, '.github/workflows/plan.yaml'), 'utf8')) as {
      permissions: unknown;
      jobs: { plan: { env: unknown } };
    };
    expect(github.permissions).toEqual({ contents: 'read', 'pull-requests': 'write' });
    expect(github.jobs.plan.env).toEqual({ KUBECONFIG: '' });
    const gitlab = parse(readFileSync(join(folder, '.gitlab-ci.yml'), 'utf8')) as {
      plan: { script: string[] };
    };
    const script = gitlab.plan.script.find((line) => line.includes('kubenode plan')) ?? '';
    const exits = [0, 1, 2, 3].map((code) => {
      const lines = script.replace('npx kubenode', `sh -c 'exit ${code}' --`);
      try {
        execFileSync('sh', ['-e', '-c', lines], { cwd: folder, stdio: 'ignore' });
        return 0;
      } catch (error) {
        return (error as { status: number }).status;
      }
    });
    expect(exits).toEqual([0, 1, 0, 0]);
  });
});

describe('kubenode render', { timeout: 60_000 }, () => {
  it('prints objects of one target as kubectl takes them', async () => {
    const folder = join(tempFolder('render'), 'fleet');
    await kubenode('/', 'init', folder, '--plain');
    const { out } = await kubenode(folder, 'render', '.', '--target', 'test', '-o', 'yaml');
    expect(out.match(/^---$/gm)).toHaveLength(3);
    expect(out).toContain('kind: Deployment');
    const table = await kubenode(folder, 'render', '.', '--objects');
    expect(table.out).toMatch(/test +shop +ConfigMap +shop +settings +fleet\/shop\.ts:\d+/);
  });

  it.each([
    ['a target that there is not', ['.', '--target', 'nowhere'], 65, /name one of: hub, pre, prod, test/],
    ['a commit that there is not', ['.', '--commit', 'no-such'], 1, /no commit of this repository/],
    ['a folder that is no repository', ['/', '--commit', 'HEAD'], 1, /git init/],
    ['a folder with nothing in it', ['.', '--path', 'test'], 1, /cdk8s\.yaml/],
  ])('says what is wrong with %s', async (_, args, code, words) => {
    const folder = join(tempFolder('render'), 'fleet');
    await kubenode('/', 'init', folder, '--plain');
    const outcome = await kubenode(folder, 'render', ...args);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.err).toMatch(words);
  });

  it('names file and line of an error in the program', async () => {
    const folder = join(tempFolder('render'), 'fleet');
    await kubenode('/', 'init', folder, '--plain');
    writeFileSync(
      join(folder, 'fleet/versions.ts'),
      'export const versions = {};\n\nthrow new Error("no versions today");\n',
    );
    const outcome = await kubenode(folder, 'render', '.');
    expect(outcome.code).toBe(1);
    expect(outcome.err).toMatch(/no versions today[^]*fleet\/versions\.ts:3[^]*what to do/);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeMachines } from '../../../src/cli/commands/import/report/machines.ts';
import { formatMachineModule } from '../../../src/cli/commands/import/report/typescript.ts';
import type { Io } from '../../../src/cli/io.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { fakeNpm } from '../../support/fake-npm.ts';
import { tempFolder } from '../../support/temp.ts';
import { hostReport, importHost } from './import/report/hosts.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function kubenode(cwd: string, ...args: string[]): Promise<CommandResult> {
  return await kubenodeWith({}, cwd, ...args);
}

async function kubenodeWith(env: Io['env'], cwd: string, ...args: string[]): Promise<CommandResult> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(
    {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      env,
      cwd,
      clock: createSystemClock(),
      interactive: false,
      color: false,
      screen: () => undefined,
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

/** What this npm packs must not become the package of the user who runs this test. */
function envWith(npm: string): Io['env'] {
  return { PATH: npm, XDG_CACHE_HOME: tempFolder('cache') };
}

function checkTypes(folder: string): void {
  // The packages where npm would install them.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['cdk8s', 'cdk8s-plus-27', 'constructs', '@types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  symlinkSync(ROOT, join(folder, 'node_modules', 'kubenode'));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '--customConditions', 'kubenode-source'], {
    cwd: folder,
    stdio: 'pipe',
  });
}

/** Most tests need neither npm nor the package. */
const UNVENDORED = ['--kubenode', 'file:/x.tgz'];

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
  [
    'machines',
    [] as string[],
    ['fleet/machines.ts', 'rules/disk-pressure.ts', 'docs/runbooks/disk-pressure.md'],
    'machines',
  ],
  ['plain objects', ['--plain'], ['fleet/shop.ts'], 'shop'],
])('kubenode init, with %s', (_, flags, own, unit) => {
  it('creates a repository that renders and type-checks', async () => {
    const folder = join(tempFolder('init'), 'My Fleet');
    const { code, err } = await kubenode('/', 'init', folder, ...UNVENDORED, ...flags);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('git commit') as string });
    expect(filesOf(folder)).toEqual(expect.arrayContaining([...COMMON, ...own, 'fleet/versions.ts']));
    expect(existsSync(join(folder, '.git'))).toBe(true);

    const rendered = await kubenode(folder, 'render', '.', '-o', 'json');
    const { targets } = JSON.parse(rendered.out) as {
      targets: { target: string; units: { unit: string }[] }[];
    };
    expect(targets.map(({ target }) => target)).toEqual(['hub', 'pre', 'prod', 'test']);
    expect(targets[1]?.units.map((one) => one.unit)).toContain(unit);

    checkTypes(folder);
  });

  it('names the controllers that its clusters need, and how hosts become machines, after its next steps', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    const { err } = await kubenode('/', 'init', folder, ...UNVENDORED, ...flags);
    const commands = err.split('\n').filter((line) => line.startsWith('  '));
    const hasMachines = unit === 'machines';
    expect(commands.findIndex((line) => line.includes('kubenode controllers --context $c')) >= 0).toBe(
      hasMachines,
    );
    expect(commands.some((line) => line.includes('kubenode machine token NAME --context test'))).toBe(
      hasMachines,
    );
    expect(commands.find((line) => line.includes('kubenode sync'))).toBe('  npx kubenode sync --from .');
    const ignored = readFileSync(join(folder, '.gitignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['*.log', 'bootstrap.json']));
  });

  it('renders its first commit to the same as the working tree', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode('/', 'init', folder, ...UNVENDORED, ...flags);
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

describe('kubenode init', () => {
  it('points the pipeline to the folder, without credentials', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode('/', 'init', folder, ...UNVENDORED, '--plain');
    const pipeline = readFileSync(join(folder, 'fleet/pipelines.ts'), 'utf8');
    expect(pipeline).toContain(`repository: 'file://${folder}'`);
    expect(pipeline).not.toContain('credentialsRef');
  });

  it('points the pipeline to a repository URL, with credentials', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    const { err } = await kubenode(
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
    expect(pipeline).toContain("credentialsRef: { name: 'fleet-repository' }");
    expect(err).toContain("annotate secret fleet-repository 'kubenode.dev/secret-use=git; git.example.com'");
    const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect({ name, kubenode: dependencies['kubenode'] }).toEqual({ name: 'fleet', kubenode: 'file:/x.tgz' });
    expect(Object.values(dependencies).join()).not.toContain('@');
  });

  it.each([
    ['a folder that is not empty', ['.'], 65, /not empty/],
    ['a repository with plain HTTP', ['new', '--repository', 'http://git.example.com/x'], 64, /plain http/],
    [
      'a password in the URL',
      ['new', '--repository', 'https://a:s3cret@git.example.com/x'],
      64,
      /credentialsRef/,
    ],
  ])('refuses %s and writes nothing', async (_, args, code, words) => {
    const cwd = tempFolder('init');
    writeFileSync(join(cwd, 'mine'), 'x');
    const outcome = await kubenode(cwd, 'init', ...args);
    expect(outcome.code).toBe(code);
    expect(outcome.err).toMatch(words);
    expect(outcome.err).not.toContain('s3cret');
    expect(readdirSync(cwd)).toEqual(['mine']);
  });

  it('creates CI jobs without cluster credentials that fail if the plan fails', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    await kubenode('/', 'init', folder, ...UNVENDORED, '--plain');
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

describe('kubenode init, with the kubenode that runs', () => {
  it('FST-4 vendors the packed tarball of this version with a lock file, and prints npm ci', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    const result = await kubenodeWith(envWith(fakeNpm()), '/', 'init', folder, '--plain');
    expect(result).toMatchObject({ code: 0, out: `15 files created in ${folder}\n` });
    expect(result.err).toMatch(/^ {2}npm ci$/m);
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(dependencies['kubenode']).toBe('file:vendor/kubenode-9.9.9.tgz');
    expect(filesOf(folder)).toEqual(
      expect.arrayContaining(['package-lock.json', 'vendor/kubenode-9.9.9.tgz']),
    );
  });

  it('FST-4 creates everything but the lock file without a package registry, and prints what to run', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    const npm = fakeNpm('npm error code ENOTFOUND\nnpm error network request to the registry failed');
    const result = await kubenodeWith(envWith(npm), '/', 'init', folder, '--plain');
    expect(result.code).toBe(0);
    expect(result.err).toContain(
      'package-lock.json is missing: npm install failed: network request to the registry failed',
    );
    expect(result.err).toMatch(/^ {2}npm install$/m);
    expect(filesOf(folder)).toContain('vendor/kubenode-9.9.9.tgz');
    expect(filesOf(folder)).not.toContain('package-lock.json');
  });

  it('FST-4 explains that npm is missing, and creates nothing', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    const result = await kubenodeWith(envWith(tempFolder('empty')), '/', 'init', folder);
    expect(result.code).toBe(69);
    expect(result.err).toMatch(/npm is not installed[^]*hint: install npm, or pass --kubenode/);
    expect(existsSync(folder)).toBe(false);
  });
});

describe('kubenode render', () => {
  it('prints the objects of one target for kubectl', async () => {
    const folder = join(tempFolder('render'), 'fleet');
    await kubenode('/', 'init', folder, ...UNVENDORED, '--plain');
    const { out } = await kubenode(folder, 'render', '.', '--target', 'test', '-o', 'yaml');
    expect(out.match(/^---$/gm)).toHaveLength(3);
    expect(out).toContain('kind: Deployment');
    const table = await kubenode(folder, 'render', '.', '--objects');
    expect(table.out).toMatch(/test +shop +ConfigMap +shop +settings +fleet\/shop\.ts:\d+/);
  });

  it.each([
    ['an unknown target', ['.', '--target', 'nowhere'], 65, /use one of: hub, pre, prod, test/],
    ['an unknown commit', ['.', '--commit', 'no-such'], 1, /is not a commit of this repository/],
    ['a folder outside of a repository', ['/', '--commit', 'HEAD'], 1, /git init/],
    ['a folder without a fleet', ['.', '--path', 'test'], 1, /cdk8s\.yaml/],
  ])('fails on %s and explains why', async (_, args, code, words) => {
    const folder = join(tempFolder('render'), 'fleet');
    await kubenode('/', 'init', folder, ...UNVENDORED, '--plain');
    const outcome = await kubenode(folder, 'render', ...args);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.err).toMatch(words);
  });

  it('reports file and line of an error in the fleet program', async () => {
    const folder = join(tempFolder('render'), 'fleet');
    await kubenode('/', 'init', folder, ...UNVENDORED, '--plain');
    writeFileSync(
      join(folder, 'fleet/versions.ts'),
      'export const versions = {};\n\nthrow new Error("no versions today");\n',
    );
    const outcome = await kubenode(folder, 'render', '.');
    expect(outcome.code).toBe(1);
    expect(outcome.err).toMatch(/no versions today[^]*fleet\/versions\.ts:3[^]*hint/);
  });
});

describe('kubenode init --cluster', () => {
  const SERVER = 'https://10.1.2.3:6443';

  interface Target {
    readonly target: string;
    readonly units: readonly {
      readonly unit: string;
      readonly objects: readonly { readonly object: object }[];
    }[];
  }

  async function objectsOf(folder: string, target: string): Promise<readonly object[]> {
    const { out } = await kubenode(folder, 'render', '.', '-o', 'json');
    const { targets } = JSON.parse(out) as { readonly targets: readonly Target[] };
    const found = targets.find((each) => each.target === target);
    return found?.units.flatMap(({ objects }) => objects.map(({ object }) => object)) ?? [];
  }

  it('creates a fleet of hosts for one cluster, which type-checks with the module that import prints', async () => {
    const folder = join(tempFolder('init'), 'fleet');
    const { code, err } = await kubenode(
      '/',
      'init',
      folder,
      ...UNVENDORED,
      '--cluster',
      'eu-1',
      '--server',
      SERVER,
    );
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('npx kubenode cluster connect eu-1 --context eu-1'),
    ]);
    const [, permit = ''] = /apply -f (\S+)/.exec(err) ?? [];
    expect(readFileSync(permit, 'utf8')).toContain('\nkind: ClusterRole\n');
    const hub = await objectsOf(folder, 'hub');
    expect(hub).toContainEqual(
      expect.objectContaining({
        kind: 'Cluster',
        spec: expect.objectContaining({
          connection: { credentialsRef: { name: 'eu-1-kubeconfig' } },
        }) as object,
      }),
    );
    const host = { ...importHost('n1', { labels: { pool: 'general' } }) };
    const { machines } = makeMachines([host], [hostReport()], { secret: 'ssh', skipped: [] });
    writeFileSync(join(folder, 'fleet/hosts.ts'), formatMachineModule(machines));
    checkTypes(folder);
    const objects = await objectsOf(folder, 'eu-1');
    expect(objects).toContainEqual(machines[0]);
    expect(JSON.stringify(objects)).toContain(SERVER);
    const [set] = objects.filter((each) => (each as { kind?: string }).kind === 'MachineComponentSet');
    // The label in the help of the command: the set selects the machines.
    expect(set).toMatchObject({ spec: { machineSelector: { matchLabels: { pool: 'general' } } } });
    expect(objects.filter((each) => (each as { kind?: string }).kind === 'MachineSet')).toEqual([]);
  });

  it.each([
    [['--cluster', 'eu-1'], '--cluster and --server belong together'],
    [['--server', SERVER], '--cluster and --server belong together'],
    [['--cluster', 'Eu_1', '--server', SERVER], 'use lower-case letters, digits and "-", at most 52'],
    [['--cluster', 'eu-1', '--server', 'http://10.1.2.3'], 'Expected a URL that begins with https://'],
    [['--cluster', 'eu-1', '--server', SERVER, '--demo'], "cannot be used with option '--demo'"],
  ])('refuses %j', async (args, message) => {
    const folder = join(tempFolder('init'), 'fleet');
    const { code, err } = await kubenode('/', 'init', folder, ...UNVENDORED, ...args);
    expect([code, err, existsSync(folder)]).toEqual([64, expect.stringContaining(message), false]);
  });
});

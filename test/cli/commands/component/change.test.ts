import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { type Publisher, sha256Of, startPublisher } from '../../../support/publisher.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const PATHS = { amd64: '/kubelet/1.36.4/linux-amd64', arm64: '/kubelet/1.36.4/linux-arm64' };
/** A file without a checksum file has to look like a program. */
const PROGRAMS = { amd64: '\u007fELF kubelet for amd64', arm64: '\u007fELF kubelet for arm64' };
const KUBELET = 'fleet/components/kubelet.ts';
const VERSIONS = 'fleet/versions.ts';
/** Most tests are about a publisher whose checksum file is not known. */
const OFFICIAL = 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/kubelet';

interface FleetRepository {
  readonly folder: string;
  readonly publisher: Publisher;
  readonly kubenode: (...args: string[]) => Promise<{ code: number; out: string; err: string }>;
  readonly git: (...args: string[]) => string;
  readonly read: (path: string) => string;
  readonly write: (path: string, text: string) => void;
}

/** What `kubenode init` creates, with a publisher of kubelet 1.36.4. */
async function createRepository(): Promise<FleetRepository> {
  const [folder, publisher] = [join(tempFolder('component'), 'fleet'), await startPublisher()];
  const repository: FleetRepository = {
    folder,
    publisher,
    kubenode: async (...args) => {
      const io = testIo({ cwd: folder, env: publisher.env });
      const code = await runCommandLine(io, args);
      return { code, out: io.stdout, err: io.stderr };
    },
    git: (...args) => {
      const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
      return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    },
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    write: (path, text) => writeFileSync(join(folder, path), text),
  };
  await runCommandLine(testIo(), ['init', folder, '--kubenode', 'file:/x.tgz']);
  const own = `${publisher.url}/kubelet/{version}/linux-{arch}`;
  repository.write(KUBELET, repository.read(KUBELET).replace(OFFICIAL, own));
  repository.git('add', '.');
  repository.git('commit', '-qm', 'The fleet');
  publisher.files.set(PATHS.amd64, PROGRAMS.amd64);
  publisher.files.set(PATHS.arm64, PROGRAMS.arm64);
  return repository;
}

const ENTRY = [
  "+    '1.36.4': {",
  `+      amd64: '${sha256Of(PROGRAMS.amd64)}',`,
  `+      arm64: '${sha256Of(PROGRAMS.arm64)}',`,
  '+    },',
];

/** The changed lines of the working tree, without the context. */
function changedLines({ git }: FleetRepository): readonly string[] {
  return git('diff', '-U0')
    .split('\n')
    .filter((line) => /^[-+](?![-+])/.test(line));
}

describe('kubenode component update', () => {
  it('adds one release and changes one line, and the fleet renders with it', async () => {
    const repository = await createRepository();
    const { code, out, err } = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(changedLines(repository)).toEqual([...ENTRY, "-  kubelet: '1.36.3',", "+  kubelet: '1.36.4',"]);
    expect(repository.git('diff').match(/^@@/gm)).toHaveLength(2);
    expect(err).toContain('not compared: no checksum file of the publisher is known');

    const rendered = await repository.kubenode('render', '.', '--target', 'test', '-o', 'yaml');
    expect(rendered.out).toContain('componentRef: kubelet-1.36.4');
    expect(rendered.out).toContain(`url: ${repository.publisher.url}${PATHS.arm64}`);
    expect(rendered.out).toContain(`sha256: ${sha256Of(PROGRAMS.arm64)}`);

    writeFileSync(join(repository.folder, 'printed.diff'), out);
    repository.git('apply', '--reverse', 'printed.diff');
    expect(changedLines(repository)).toEqual([]);
  });

  it('finds each component of the fleet at its publisher, and compares with the checksum file there', async () => {
    const repository = await createRepository();
    const { publisher, kubenode } = repository;
    const tag = '/github/containerd/containerd/releases/download/v2.3.9/';
    for (const arch of ['amd64', 'arm64']) {
      const name = `containerd-2.3.9-linux-${arch}.tar.gz`;
      publisher.files.set(tag + name, `containerd for ${arch}`);
      publisher.files.set(`${tag}${name}.sha256sum`, `${sha256Of(`containerd for ${arch}`)}  ${name}\n`);
    }
    const { code, err } = await kubenode('component', 'update', 'containerd', '2.3.9');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(changedLines(repository)).toEqual([
      "+    '2.3.9': {",
      `+      amd64: '${sha256Of('containerd for amd64')}',`,
      `+      arm64: '${sha256Of('containerd for arm64')}',`,
      '+    },',
      "-  containerd: '2.3.4',",
      "+  containerd: '2.3.9',",
    ]);
    expect(err).toContain(
      'verified: the same sha256 is in https://github.com/containerd/containerd/releases/download/v2.3.9/',
    );
    expect(err).toContain('no signature of the publisher is known');
    const rendered = await kubenode('render', '.', '--target', 'test', '-o', 'yaml');
    expect(rendered.out).toContain('componentRef: containerd-2.3.9');
  });

  it('compares with the checksum file that is named', async () => {
    const { publisher, kubenode } = await createRepository();
    publisher.files.set(
      '/sums',
      `${sha256Of(PROGRAMS.amd64)}  linux-amd64\n${sha256Of(PROGRAMS.arm64)}  linux-arm64\n`,
    );
    const sums = ['--checksum-url', `${publisher.url}/sums`, '-o', 'json'];
    const { code, out } = await kubenode('component', 'update', 'kubelet', '1.36.4', ...sums);
    expect({ code, report: JSON.parse(out) as unknown }).toMatchObject({
      code: 0,
      report: {
        state: 'Changed',
        files: [
          { arch: 'amd64', sizeBytes: 22, checkedBy: `${publisher.url}/sums` },
          { arch: 'arm64', sha256: sha256Of(PROGRAMS.arm64) },
        ],
        changes: [{ path: KUBELET }, { path: VERSIONS }],
      },
    });
  });

  it('prints the diff of a dry run, and changes nothing', async () => {
    const repository = await createRepository();
    const { code, out, err } = await repository.kubenode(
      'component',
      'update',
      'kubelet',
      '1.36.4',
      '--dry-run',
    );
    expect(code).toBe(0);
    expect(out).toContain(`--- a/${KUBELET}\n+++ b/${KUBELET}\n@@ `);
    expect(err).toContain(`would change ${VERSIONS}: selects 1.36.4 instead of 1.36.3`);
    expect(changedLines(repository)).toEqual([]);
  });

  it('selects a release that was added before, and then has nothing to do', async () => {
    const repository = await createRepository();
    await repository.kubenode('component', 'add', 'kubelet', '1.36.4');
    expect(changedLines(repository)).toEqual(ENTRY);
    repository.git('commit', '-qam', 'kubelet 1.36.4');
    await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect(changedLines(repository)).toEqual(["-  kubelet: '1.36.3',", "+  kubelet: '1.36.4',"]);
    repository.git('commit', '-qam', 'Select it');
    const again = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect(again).toMatchObject({ code: 0, out: '' });
    expect(again.err).toContain('no change: kubelet 1.36.4 is declared with these digests');
  });

  it('changes nothing for a wrong checksum', async () => {
    const repository = await createRepository();
    for (const path of Object.values(PATHS)) {
      repository.publisher.files.set(`${path}.sha256`, `${'0'.repeat(64)}\n`);
    }
    const { code, out, err } = await repository.kubenode(
      'component',
      'update',
      'kubelet',
      '1.36.4',
      '--checksum-url',
      '{url}.sha256',
    );
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      `error: wrong checksum of kubelet 1.36.4 for amd64: its publisher states sha256 ${'0'.repeat(64)}, downloaded was ${sha256Of(PROGRAMS.amd64)}`,
    );
    expect(changedLines(repository)).toEqual([]);
  });

  it('changes nothing if one architecture is missing, unless the other one is named', async () => {
    const repository = await createRepository();
    repository.publisher.files.delete(PATHS.arm64);
    const missing = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect(missing).toMatchObject({ code: 65, out: '' });
    expect(missing.err).toContain(
      'kubelet 1.36.4 for arm64 was not downloaded: the server answered 404 Not Found',
    );
    expect(changedLines(repository)).toEqual([]);
    const { code } = await repository.kubenode('component', 'update', 'kubelet', '1.36.4', '--arch', 'amd64');
    expect(code).toBe(0);
    expect(changedLines(repository)).toEqual([
      ENTRY[0],
      ENTRY[1],
      ENTRY[3],
      "-  kubelet: '1.36.3',",
      "+  kubelet: '1.36.4',",
    ]);
  });

  it('computes no digest of a short text that no checksum file has', async () => {
    const repository = await createRepository();
    repository.publisher.files.set(PATHS.amd64, 'rate limit exceeded\n');
    const { code, out, err } = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect({ code, out }).toEqual({ code: 69, out: '' });
    expect(err).toContain(
      'kubelet 1.36.4 for amd64 was not downloaded: expected a program, got a text of 20 bytes that begins with "rate limit exceeded\\n"',
    );
    expect(changedLines(repository)).toEqual([]);
  });

  it('reports a server that does not answer as unavailable', async () => {
    const { publisher, kubenode } = await createRepository();
    publisher.answers.set(PATHS.amd64, [(_, response) => void response.writeHead(503).end()]);
    const { code, err } = await kubenode('component', 'update', 'kubelet', '1.36.4');
    expect(code).toBe(69);
    expect(err).toContain('the server answered 503 Service Unavailable');
  });

  it('refuses a file that its publisher replaced, and prints nothing to paste', async () => {
    const repository = await createRepository();
    const args = ['component', 'update', 'kubelet', '1.36.4'];
    await repository.kubenode(...args);
    repository.git('commit', '-qam', 'kubelet 1.36.4');
    repository.publisher.files.set(PATHS.amd64, '\u007fELF replaced');
    const { code, out, err } = await repository.kubenode(...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      `error: nothing was changed: the file of 1.36.4 for amd64 is not the one that was declared: expected sha256 ${sha256Of(PROGRAMS.amd64)}, published is ${sha256Of('\u007fELF replaced')}\n  where: ${KUBELET}:10`,
    );
    expect(changedLines(repository)).toEqual([]);
  });

  it('keeps a file that was changed during the download', async () => {
    const repository = await createRepository();
    repository.publisher.answers.set(PATHS.arm64, [
      (_, response) => {
        repository.write(KUBELET, '// other\n');
        response.end(PROGRAMS.arm64);
      },
    ]);
    const { code, err } = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect({ code, text: repository.read(KUBELET) }).toEqual({ code: 1, text: '// other\n' });
    expect(err).toContain('the file was changed during the download');
  });

  it('edits none of two files when the second one was changed during the download', async () => {
    const repository = await createRepository();
    repository.publisher.answers.set(PATHS.arm64, [
      (_, response) => {
        repository.write(VERSIONS, '// other\n');
        response.end(PROGRAMS.arm64);
      },
    ]);
    const before = repository.read(KUBELET);
    const { code, err } = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect({ code, text: repository.read(KUBELET) }).toEqual({ code: 1, text: before });
    expect(err).toContain('the file was changed during the download');
    expect(repository.read(VERSIONS)).toBe('// other\n');
  });

  it('refuses a file with changes before it downloads, but for --force', async () => {
    const repository = await createRepository();
    repository.write(VERSIONS, `${repository.read(VERSIONS)}// later\n`);
    const { code, err } = await repository.kubenode('component', 'update', 'kubelet', '1.36.4');
    expect({ code, asked: repository.publisher.asked }).toEqual({ code: 65, asked: [] });
    expect(err).toContain(`${VERSIONS} has changes that are not committed`);
    expect(await repository.kubenode('component', 'add', 'kubelet', '1.36.4')).toMatchObject({ code: 0 });
    repository.git('checkout', '-q', KUBELET);
    const forced = await repository.kubenode('component', 'update', 'kubelet', '1.36.4', '--force');
    expect(forced.code).toBe(0);
    expect(changedLines(repository)).toContain('+// later');
  });
});

describe('kubenode component add', () => {
  it('prints what to write by hand for a component that is not declared', async () => {
    const repository = await createRepository();
    repository.git('rm', '-q', 'fleet/components/crictl.ts');
    for (const arch of ['amd64', 'arm64']) {
      const path = `/github/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-${arch}.tar.gz`;
      repository.publisher.files.set(path, `crictl for ${arch}`);
      repository.publisher.files.set(`${path}.sha256`, `${sha256Of(`crictl for ${arch}`)}\n`);
    }
    const { code, out, err } = await repository.kubenode('component', 'add', 'crictl', '1.36.0');
    expect(code).toBe(65);
    expect(err).toContain('the repository declares no releases of crictl with componentReleases');
    expect(err).toContain('or use one of: cni-plugins, containerd, kubelet, node-exporter, runc');
    expect(err).toContain('verified: the same sha256 is in https://github.com/kubernetes-sigs/cri-tools/');
    expect(out).toBe(`// In the archive: crictl.
const releases = componentReleases({
  component: 'crictl',
  url: 'https://github.com/kubernetes-sigs/cri-tools/releases/download/v{version}/crictl-v{version}-linux-{arch}.tar.gz',
  format: 'TarGz',
  versions: {
    '1.36.0': {
      amd64: '${sha256Of('crictl for amd64')}',
      arm64: '${sha256Of('crictl for arm64')}',
    },
  },
});
`);
    // Pasted as it is, it is found the next time.
    repository.write('fleet/components/crictl.ts', out);
    const again = await repository.kubenode('component', 'add', 'crictl', '1.36.0', '--force');
    expect(again).toMatchObject({ code: 0, out: '' });
  });

  it.each([
    [['kubelet', 'v1.36.4'], 'leave the "v" out: 1.36.4'],
    [
      ['k3s', '1.36.4+k3s1'],
      'write "-" for "+": 1.36.4-k3s1, and name its URL with --url, in which "+" is %2B',
    ],
    [['kubelet', "1.0.0': {}"], 'expected lower-case letters, digits, "." and "-"'],
    [['Kubelet', '1.36.4'], 'expected lower-case letters, digits and "-"'],
    [['web', '1.0.0'], 'no URL of web is known: name it with --url'],
    [['web', '1.0.0', '--repo', '/'], 'git cannot read the fleet repository: fatal: not a git repository'],
  ])('rejects %j', async (args, message) => {
    const { kubenode } = await createRepository();
    const { code, out, err } = await kubenode('component', 'add', ...args);
    expect({ code, out }).toEqual({ code: 65, out: '' });
    expect(err).toContain(message);
  });
});

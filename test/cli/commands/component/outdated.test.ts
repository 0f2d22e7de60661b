import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { type Publisher, startPublisher } from '../../../support/publisher.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const NODE_EXPORTER = '/api/repos/prometheus/node_exporter/releases?per_page=50';

async function outdated(
  publisher: Publisher,
  versions: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const folder = tempFolder('outdated');
  execFileSync('git', ['init', '-q'], { cwd: folder });
  mkdirSync(join(folder, 'fleet'));
  const lines = Object.entries(versions).map(([name, version]) => `  '${name}': '${version}',\n`);
  writeFileSync(
    join(folder, 'fleet/versions.ts'),
    `export const versions = {\n${lines.join('')}} as const;\n`,
  );
  // Outside of the fleet nothing is read.
  writeFileSync(join(folder, 'other.ts'), "const versions = { kubelet: '0.0.1' };\n");
  const io = testIo({ cwd: folder, env: publisher.env });
  const code = await runCommandLine(io, ['component', 'outdated', ...args]);
  return { code, out: io.stdout, err: io.stderr };
}

async function startIndexes(): Promise<Publisher> {
  const publisher = await startPublisher();
  publisher.files.set('/kube/stable.txt', 'v1.37.1\n');
  publisher.files.set('/kube/stable-1.36.txt', 'v1.36.4');
  const tags = ['v2.0.0-rc.1', 'v1.9.1', 'v1.8.10', 'v1.8.2'];
  publisher.files.set(NODE_EXPORTER, JSON.stringify(tags.map((tag_name) => ({ tag_name }))));
  return publisher;
}

describe('kubenode component outdated', () => {
  it('lists newer patch, minor and major versions, and exits with 2', async () => {
    const publisher = await startIndexes();
    const versions = { kubelet: '1.36.3', 'node-exporter': '1.8.2', 'node-tuning': '1.0.0' };
    const { code, out } = await outdated(publisher, versions);
    expect(code).toBe(2);
    expect(out.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'COMPONENT SELECTED STATE PATCH MINOR MAJOR NOTE',
      'kubelet 1.36.3 Outdated 1.36.4 1.37.1 -',
      'node-exporter 1.8.2 Outdated 1.8.10 1.9.1 -',
      expect.stringContaining(
        'node-tuning 1.0.0 NotTracked - - - not one of cni-plugins, containerd,',
      ) as string,
      '',
    ]);
  });

  it('exits with 0 if all are current, and asks for one only if it is named', async () => {
    const publisher = await startIndexes();
    const versions = { kubelet: '1.37.1', 'node-exporter': '1.8.2' };
    const { code, out } = await outdated(publisher, versions, 'kubelet', '-o', 'json');
    expect({ code, data: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      data: {
        components: [
          {
            component: 'kubelet',
            version: '1.37.1',
            state: 'Current',
            newer: {},
            index: 'https://dl.k8s.io/release/stable.txt',
          },
        ],
      },
    });
    expect(publisher.asked).toEqual(['/kube/stable.txt']);
  });

  it.each([
    ['an error', 403, '', 'the server answered 403 Forbidden'],
    ['a page', 200, '<html>login</html>', 'the answer lists no releases'],
    ['an empty list', 200, '[]', 'the answer lists no releases'],
  ])(
    'is unknown for %s of the index, with the others beside it, and exits with 69',
    async (_, status, body, because) => {
      const publisher = await startIndexes();
      publisher.answers.set(NODE_EXPORTER, [
        (_request, response) => void response.writeHead(status).end(body),
      ]);
      const { code, out } = await outdated(publisher, { kubelet: '1.36.3', 'node-exporter': '1.8.2' });
      expect(code).toBe(69);
      expect(out).toMatch(new RegExp(`^node-exporter +1\\.8\\.2 +Unknown +- +- +- +${because}`, 'm'));
      expect(out).toMatch(/^kubelet +1\.36\.3 +Outdated +1\.36\.4 +1\.37\.1/m);
    },
  );

  it('is unknown if one file of Kubernetes is missing', async () => {
    const publisher = await startIndexes();
    publisher.files.delete('/kube/stable-1.36.txt');
    const { code, out } = await outdated(publisher, { kubelet: '1.36.3' });
    expect({ code, out }).toMatchObject({
      code: 69,
      out: expect.stringContaining('404 Not Found') as string,
    });
  });

  it.each([
    [['web'], 'the repository selects no version of web'],
    [['--repo', '/'], 'git cannot read the fleet repository'],
  ])('rejects %j', async (args, message) => {
    const { code, err } = await outdated(await startPublisher(), { kubelet: '1.36.3' }, ...args);
    expect(code).toBe(65);
    expect(err).toContain(message);
  });
});

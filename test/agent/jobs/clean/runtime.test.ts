import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HostProcesses } from '../../../../src/agent/host/port.ts';
import { run } from '../../../../src/agent/host/run-with-limits.ts';
import { createContainerRuntime } from '../../../../src/agent/jobs/clean/runtime.ts';
import { tempFolder } from '../../../support/temp.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const [PAUSE, WEB, OLD, BROKEN] = ['1', '2', '3', '4'].map((digit) => `sha256:${digit.repeat(64)}`);
const IMAGES = [
  { id: PAUSE, repoTags: ['registry.k8s.io/pause:3.10'], size: '700', pinned: true },
  {
    id: WEB,
    repoTags: ['example.com/web:2'],
    repoDigests: ['example.com/web@sha256:aa'],
    size: '20',
    pinned: false,
  },
  { id: OLD, repoTags: ['example.com/web:1'], size: '10', pinned: false },
  { id: BROKEN, repoTags: [], size: '5', pinned: false },
  { id: '--all', repoTags: ['example.com/evil:1'], size: '1', pinned: false },
];
const created = (hours: number): string => String((NOW.getTime() - hours * 3_600_000) * 1e6);
const CONTAINERS = [
  {
    id: 'a'.repeat(64),
    state: 'CONTAINER_RUNNING',
    imageRef: WEB,
    createdAt: created(9),
    metadata: { name: 'web' },
  },
  {
    id: 'b'.repeat(64),
    state: 'CONTAINER_EXITED',
    imageRef: BROKEN,
    createdAt: created(9),
    metadata: { name: 'job' },
  },
  {
    id: 'c'.repeat(64),
    state: 'CONTAINER_EXITED',
    imageRef: BROKEN,
    createdAt: created(1),
    metadata: { name: 'new' },
  },
  {
    id: '-f',
    state: 'CONTAINER_EXITED',
    imageRef: BROKEN,
    createdAt: created(9),
    metadata: { name: 'evil' },
  },
];

function runtime(
  answers: Readonly<Record<string, string>> = {},
  truncated = false,
): ReturnType<typeof createContainerRuntime> {
  const usual: Readonly<Record<string, string>> = {
    images: JSON.stringify({ images: IMAGES }),
    ps: JSON.stringify({ containers: CONTAINERS }),
  };
  const answer: HostProcesses['run'] = async ([, command = '']) => {
    const output = answers[command] ?? usual[command];
    return {
      exitCode: output === undefined ? 1 : 0,
      output: output ?? '',
      timedOut: false,
      truncated,
    };
  };
  return createContainerRuntime({ run: answer }, 'crictl');
}

describe('what the container runtime does not need', () => {
  it('R38 deletes no image that is pinned, used by any container, or matched by a pattern', async () => {
    expect((await runtime().unusedImages(['@pinned'])).map(({ name }) => name)).toEqual([
      'example.com/web:1',
    ]);
    expect(await runtime().unusedImages(['example.com/*'])).toEqual([]);
    expect(await runtime().unusedImages(['*/web:1'])).toEqual([]);
    expect(await runtime().unusedImages(['e*com*web*1'])).toEqual([]);
    expect(await runtime().unusedImages(['example.com/web', '*/web:2', 'x*'])).toHaveLength(1);
  });

  it('deletes containers that ended, and are old enough', async () => {
    expect(await runtime().deadContainers(0, NOW)).toMatchObject([{ name: 'job' }, { name: 'new' }]);
    expect(await runtime().deadContainers(7200, NOW)).toMatchObject([{ name: 'job' }]);
  });

  it.each(['', '{', '[]', '{"images": {}}'])('knows nothing when the runtime prints %s', async (images) => {
    await expect(runtime({ images }).unusedImages([])).rejects.toThrow(
      'crictl images printed no list of images',
    );
  });

  it('trusts no list that was cut, also where the rest of it can be read', async () => {
    await expect(runtime({}, true).unusedImages([])).rejects.toThrow('crictl ps failed: it printed too much');
  });

  it('reads lists beside which the client warns', async () => {
    const warning = 'level=warning msg="runtime connect using default endpoints"';
    const script = `echo '${warning}' >&2; case $1 in ps) echo '{"containers": []}' ;; *) echo '{"images": [${JSON.stringify(IMAGES[2])}]}' ;; esac`;
    const client = join(tempFolder('crictl'), 'crictl');
    writeFileSync(client, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    expect(await createContainerRuntime({ run }, client).unusedImages([])).toMatchObject([{ id: OLD }]);
  });

  it('deletes nothing when the containers are not known', async () => {
    await expect(runtime({ ps: 'oops' }).unusedImages([])).rejects.toThrow('crictl ps');
    await expect(runtime().removeImage('x')).rejects.toThrow('crictl rmi failed: exit code 1');
  });
});

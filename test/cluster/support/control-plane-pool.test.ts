import { beforeEach, describe, expect, inject, it } from 'vitest';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { configMap } from '../../support/builders.ts';
import { takeServer } from '../../support/control-plane-pool.ts';
import type { Run } from '../../support/control-plane-run.ts';
import { type ApiServer, startServer } from '../../support/control-plane-server.ts';
import { installWidgets } from '../../support/controller/install-widgets.ts';
import { tempFolder } from '../../support/temp.ts';

describe('the API servers that test files share', () => {
  let run: Run;
  beforeEach(() => {
    // Its own folder, and so its own idle servers: those of the other files may be as many as are kept.
    run = { ...inject('controlPlaneRun'), folder: tempFolder('pool') };
  });

  it('go to the next file that needs the same objects, as they were, and to one file at a time', async () => {
    const first = await takeServer(run, 'widgets', () => startServer(run));
    await first.client.create(CONFIG_MAPS, configMap('left'));
    await first.stop();

    await expect(takeIdle('machines')).rejects.toThrow('none is idle');
    const both = await Promise.allSettled([takeIdle('widgets'), takeIdle('widgets')]);
    const taken = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(taken.map(({ url }) => url)).toEqual([first.url]);
    for (const server of taken) {
      const { items } = await server.client.list(CONFIG_MAPS, { fieldSelector: 'metadata.name=left' });
      expect(items).toEqual([]);
      await server.kill();
      await server.stop();
    }
  });

  it.each([
    ['was killed, even if it runs again', (server: ApiServer) => server.kill().then(() => server.start())],
    ['got another kind', (server: ApiServer) => installWidgets(server.client)],
  ])('end with the file in which one %s', async (_, change) => {
    const server = await takeServer(run, 'widgets', () => startServer(run));
    await change(server);
    await server.stop();
    await expect(takeIdle('widgets')).rejects.toThrow('none is idle');
    expect(server.address()).toBeUndefined();
  });

  function takeIdle(content: string): Promise<ApiServer> {
    return takeServer(run, content, () => Promise.reject(new Error('none is idle')));
  }
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pushHookStep } from '../../../../src/demo/tour/steps/push-hook.ts';
import { createFailingTour } from '../../../support/demo/tour.ts';

let server: Server;
let port: number;

beforeEach(async () => {
  server = createServer((request, response) => response.writeHead(202).end(request.method));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('the step of a webhook', () => {
  it('leaves the repository as it was and no Secret, whichever expectation is not verified', async () => {
    for (let failAt = 1; failAt <= 5; failAt += 1) {
      const { tour, content, secrets } = await createFailingTour(failAt, port);
      const before = content();
      await expect(pushHookStep.run(tour)).rejects.toThrow('not verified');
      expect([content(), [...secrets]]).toEqual([before, []]);
    }
    const { tour, content, secrets, verified } = await createFailingTour(0, port);
    const before = content();
    await pushHookStep.run(tour);
    expect([content(), [...secrets], verified()]).toEqual([before, [], 5]);
  });

  it('leaves no Secret when the Pipeline does not have the form of the demo, or sync does not answer', async () => {
    const { tour, secrets } = await createFailingTour(0, port);
    const edit = vi.fn<() => Promise<void>>(async () => Promise.reject(new Error('another form')));
    await expect(pushHookStep.run({ ...tour, repository: { ...tour.repository, edit } })).rejects.toThrow(
      'another form',
    );
    expect([...secrets]).toEqual([]);
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
    const silent = await createFailingTour(0, port);
    const before = silent.content();
    await expect(pushHookStep.run(silent.tour)).rejects.toThrow('sync does not answer the webhook');
    expect([silent.content(), [...silent.secrets]]).toEqual([before, []]);
  });
});

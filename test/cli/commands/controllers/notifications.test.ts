import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openNotifications } from '../../../../src/cli/commands/controllers/notifications.ts';
import { tempFolder } from '../../../support/temp.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

function open(notifications?: string): ReturnType<typeof openNotifications> {
  return openNotifications(notifications === undefined ? {} : { notifications }, {
    clock: virtualClock(),
    random: () => 0,
  });
}

describe('the option --notifications', () => {
  it('is not needed', async () => {
    expect(await open()).toBeUndefined();
  });

  it('opens the receivers of the file', async () => {
    const path = join(tempFolder('notifications'), 'file.yaml');
    writeFileSync(path, 'receivers: [{ name: chat, type: Slack, urlFile: /slack, queues: [platform] }]');
    expect((await open(path))?.selections).toMatchObject([{ name: 'chat', queues: ['platform'] }]);
  });

  it('names a file that cannot be read, and one with a mistake', async () => {
    const path = join(tempFolder('notifications'), 'file.yaml');
    await expect(open(path)).rejects.toMatchObject({ code: 'BadInput', where: path });
    writeFileSync(path, 'receivers: [{ name: chat, type: Teams }]');
    await expect(open(path)).rejects.toThrow('receivers[0].type must be one of Webhook, Slack, PagerDuty');
  });
});

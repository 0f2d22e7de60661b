import { expect, it } from 'vitest';
import { createAcceptedRecord } from '../../../src/sync/report/accepted.ts';

function recordWith(fails: () => boolean) {
  const written: object[] = [];
  const record = createAcceptedRecord<object>(async (each) => {
    if (fails()) throw new Error('the hub does not answer');
    written.push(each);
  });
  return { written, record };
}

it('S26 writes what the host accepted once', async () => {
  const { written, record } = recordWith(() => false);
  await record.record();
  await record.add({ a: 1 });
  await record.record();
  expect(written).toEqual([{ a: 1 }]);
});

it('S26 keeps what the hub did not take, and writes the newest', async () => {
  let fails = true;
  const { written, record } = recordWith(() => fails);
  await expect(record.add({ a: 1 })).rejects.toThrow('the hub does not answer');
  await expect(record.add({ a: 2 })).rejects.toThrow('the hub does not answer');
  fails = false;
  await record.record();
  expect(written).toEqual([{ a: 2 }]);
});

it('S26 forgets what another process may have written since', async () => {
  let fails = true;
  const { written, record } = recordWith(() => fails);
  await expect(record.add({ a: 1 })).rejects.toThrow('the hub does not answer');
  record.forget();
  fails = false;
  await record.record();
  expect(written).toEqual([]);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventName, eventNote } from '../../../src/kube/events/object.ts';
import { machine } from '../../support/kube/recorder-bed.ts';

describe('eventName', () => {
  it('is a valid and deterministic name for every object name', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.string(), (name, note) => {
        const about = { ...machine, metadata: { name } };
        const result = eventName(about, 'topic', note);
        expect(result).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        expect(result.length).toBeLessThanOrEqual(253);
        expect(eventName(about, 'topic', note)).toBe(result);
      }),
    );
  });
});

describe('eventNote', () => {
  it('is cut at 1024 bytes, never within a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 100, maxLength: 2000 }), (text) => {
        const note = eventNote(text.replaceAll('\uFFFD', ''));
        expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
        expect(note).not.toContain('\uFFFD');
      }),
    );
  });
});

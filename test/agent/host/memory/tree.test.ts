import { describe, expect, it } from 'vitest';
import { MemoryTree, statOf } from '../../../../src/agent/host/memory/tree.ts';

function file(content: string): Parameters<MemoryTree['set']>[1] {
  return { type: 'File', content: new TextEncoder().encode(content), mode: '0644', owner: 'root:root' };
}

function tree(capacityBytes = 100): MemoryTree {
  return new MemoryTree(capacityBytes);
}

describe('a file system in memory', () => {
  it('creates the directories above a file', () => {
    const found = tree();
    found.set('/a/b/c', file('x'));
    expect(found.get('/a/b')?.type).toBe('Directory');
    expect(found.children('/a')).toEqual(['b']);
  });

  it('follows links to files and through directories, and ends in a circle', () => {
    const found = tree();
    found.set('/v1/run', file('x'));
    found.set('/current', { type: 'Link', target: '/v1' });
    found.set('/bin/run', { type: 'Link', target: '/current/run' });
    found.set('/loop', { type: 'Link', target: '/loop' });
    expect(found.openFile('/bin/run')).toEqual(file('x'));
    expect(found.openFile('/current/run')).toEqual(file('x'));
    expect(found.openFile('/loop')).toBeUndefined();
    expect(found.openFile('/v1')).toBeUndefined();
  });

  it('renames a directory over another one', () => {
    const found = tree();
    found.set('/new/a', file('1'));
    found.set('/old/b', file('2'));
    found.rename('/new', '/old');
    expect([...found.describe().keys()]).toEqual(['/', '/old', '/old/a']);
    expect(() => found.rename('/new', '/old')).toThrow('/new does not exist');
  });

  it('is full at its capacity', () => {
    const found = tree(3);
    found.set('/a', file('xx'));
    expect(found.freeBytes()).toBe(1);
    expect(() => found.set('/b', file('yy'))).toThrow('the disk is full: /b could not be written');
  });

  it('describes content, mode and links', () => {
    const found = tree();
    found.set('/a', file('x'));
    found.set('/b', { type: 'Link', target: '/a' });
    expect(found.describe().get('/b')).toBe('link to /a');
    expect(found.describe().get('/a')).toMatch(/^file 0644 root:root [0-9a-f]{64}$/);
    expect(statOf({ type: 'Link', target: '/a' })).toMatchObject({ type: 'Link', target: '/a' });
    expect(statOf(file('xy'))).toMatchObject({ type: 'File', sizeBytes: 2 });
  });
});

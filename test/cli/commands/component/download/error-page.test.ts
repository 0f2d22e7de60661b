import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contentReason, pageReason } from '../../../../../src/cli/commands/component/download/error-page.ts';

const PAGE = 'the answer is a web page, not a file';

describe('pageReason', () => {
  it.each<[content: string, reason: string | undefined]>([
    ['<!DOCTYPE html><title>log in</title>', PAGE],
    ['\ufeff \n<!doctype  html>', PAGE],
    ['<!-- proxy --> <HTML lang="en">', PAGE],
    ['<?xml version="1.0"?><Error/>', undefined],
    ['<htmlparser', undefined],
    ['\u007fELF <html>', undefined],
    ['', undefined],
  ])('of %j', (content, reason) => {
    expect(pageReason(Buffer.from(content))).toBe(reason);
  });
});

describe('contentReason', () => {
  it.each<[name: string, content: string | Buffer, reason: string | undefined]>([
    ['kubelet', '\u007fELF\u0001', undefined],
    ['plug-in', '#!/bin/sh\nexec true\n', undefined],
    ['data', Buffer.from([0, 1, 2]), undefined],
    ['kubelet', 'x'.repeat(4096), undefined],
    ['kubelet', 'x'.repeat(4095), 'expected a program, got a text of 4095 bytes that begins with "x'],
    ['kubelet', 'not found\n', 'expected a program, got a text of 10 bytes that begins with "not found\\n"'],
    ['kubelet', '{"message":"rate limit"}', 'expected a program, got a text of 24 bytes'],
    ['a.tar.gz', gzipSync('content'), undefined],
    ['a.tgz', gzipSync('content'), undefined],
    ['a.tar.zst', zstdCompressSync('content'), undefined],
    ['a.tgz', '\u007fELF', 'expected an archive of gzip, got 4 bytes that begin with'],
    ['a.tar.zst', gzipSync('content'), 'expected an archive of zstd'],
    ['a.tar.gz', '<?xml version="1.0"?>'.padEnd(9000), 'expected an archive of gzip, got 9000 bytes'],
  ])('of %s with %j', (fileName, content, reason) => {
    const bytes = Buffer.from(content);
    const found = contentReason({ head: bytes.subarray(0, 512), sizeBytes: bytes.length, fileName });
    expect(found ?? 'accepted').toContain(reason ?? 'accepted');
  });
});

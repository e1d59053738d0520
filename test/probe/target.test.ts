import { expect, it } from 'vitest';
import { parseProbeTarget } from '../../src/probe/target.ts';

it.each([
  ['https://shop.example.com/checkout?token=secret#top', 'https://shop.example.com/checkout'],
  ['http://[::1]:8080/', 'http://[::1]:8080'],
  ['tcp://db:5432', 'tcp://db:5432'],
  ['tcp://[fd00::1]:5432', 'tcp://[fd00::1]:5432'],
  ['grpc://cart:50051/shop.Cart', 'grpc://cart:50051/shop.Cart'],
  ['grpc://cart:80', 'grpc://cart:80'],
  ['service/checkout', 'service/checkout'],
  ['svc/checkout:8080/pay?card=4711', 'service/checkout:8080/pay'],
  ['pod', 'pod'],
  ['pod:web/ready?x=1', 'pod:web/ready'],
  ['pod/ready', 'pod/ready'],
])('shows %s as %s', (text, shown) => {
  expect(parseProbeTarget(text).shown).toBe(shown);
});

it.each([
  '',
  'checkout',
  'ftp://host/',
  'tcp://host',
  'grpc://host/service',
  'http://',
  'service/',
  'service/Not_A_Name',
  'http://user:pass@host/',
  'tcp://user:4711@host:5432',
  'grpc://user@host:50051',
  'grpc://host:50051/%zz',
  'podium',
])('refuses "%s"', (text) => {
  expect(() => parseProbeTarget(text)).toThrow(expect.objectContaining({ code: 'usage.probe' }) as Error);
});

it('cannot leave the path of the proxy', () => {
  expect(parseProbeTarget('service/checkout/../../../secrets')).toMatchObject({ path: '/secrets' });
});

it('shows no password of a refused target', () => {
  expect(() => parseProbeTarget('http://user:hunter2@host/')).toThrow(/^(?!.*hunter2)/);
  expect(() => parseProbeTarget('foo://user:hunter2@host')).toThrow(/^(?!.*hunter2)/);
  expect(() => parseProbeTarget('tcp://user:4711@host:5432')).toThrow(/^(?!.*4711)/);
});

/** A module of its own, since a CommonJS package that is itself imported on demand loses its names in a bundle. */
export { ProxyAgent } from 'proxy-agent';
